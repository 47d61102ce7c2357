/** What asking the destination says about an entry whose effect is in doubt (I6). */
export const FINDINGS = ['took_effect', 'did_not', 'still_unknown'] as const
export type Finding = (typeof FINDINGS)[number]

/** A finding with what it rests on. */
export type Found = {
  readonly finding: Finding
  readonly status: number | null
  /** Why it is still unknown; `null` for a definite finding. */
  readonly cause: string | null
  /** For people: an error's text. Never a payload. */
  readonly detail: string | null
  readonly durationMs: number | null
  /** "Not before", as the destination asked for it; ms from now. */
  readonly retryAfterMs: number | null
}

/** What a finding did to its entry. `kept`: it came too late or was overtaken, and is evidence only. */
export const FINDING_EFFECTS = [
  'delivered',
  'returned',
  'dead_lettered',
  'asked_again',
  'waits_for_person',
  'kept',
] as const
export type FindingEffect = (typeof FINDING_EFFECTS)[number]

export function stillUnknown(cause: string, more: Partial<Omit<Found, 'finding' | 'cause'>> = {}): Found {
  return { finding: 'still_unknown', status: null, detail: null, durationMs: null, retryAfterMs: null, ...more, cause }
}
