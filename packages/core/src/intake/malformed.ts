/** Why an authentic push can't be used. Answered 400, or kept as quarantined where the source says so. */
export type MalformedCause =
  | 'delivery_id_missing'
  | 'delivery_id_invalid'
  | 'body_not_utf8'
  | 'body_too_deep'
  | 'body_not_json'
  | 'body_not_form'
  | 'batch_not_a_list'
  | 'batch_empty'
  | 'batch_too_large'
  | 'event_type_invalid'
  | 'age_field_invalid'
  | 'schema'
  | 'route_failed'

/** `hint` says what to look at, never what the payload holds. */
export type Malformed = { readonly kind: 'malformed'; readonly cause: MalformedCause; readonly hint: string }

export function malformed(cause: MalformedCause, hint: string): Malformed {
  return { kind: 'malformed', cause, hint }
}
