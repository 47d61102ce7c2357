/** Who acts, and why: both are written down before anything changes (I9). */
export type ActRequest = {
  /** Name of the configured operator whose token was given. */
  readonly actor: string
  /** At least three characters. */
  readonly reason: string
}

/** What an act left behind, or why it changed nothing. `next` says what to do instead. */
export type ActRefusal =
  | { readonly kind: 'not_found' }
  /** The state doesn't allow it, or somebody else acted first. */
  | { readonly kind: 'conflict'; readonly state: string; readonly why: string; readonly next: string }
  /** The state would allow it, but it is not safe. */
  | { readonly kind: 'refused'; readonly state: string; readonly why: string; readonly next: string }
