import type { Finding } from './finding.js'

/** How a destination can be asked whether it acted. Resolved from configuration; durations in ms. */
export type LookupContract = {
  /** A POST is allowed only where it is declared to be a search: asking never changes anything. */
  readonly method: 'GET' | 'POST'
  /** Path and query with placeholders, on the destination's own origin. */
  readonly target: string
  /** JSON body of a search, with placeholders in its texts; `null` for GET. */
  readonly body: JsonTemplate | null
  /** The first one that applies decides; none: still unknown. */
  readonly rules: readonly LookupRule[]
  /**
   * On top of the total time-out: before that nothing is asked, and no "it did not" is believed. Longer than the
   * destination needs to work off a request and to show it in what it is asked.
   */
  readonly graceMs: number
  /** Gaps between two questions about one entry grow from `firstMs` to `capMs`. */
  readonly firstMs: number
  readonly capMs: number
  /** Questions about one doubt, before it waits for a person. */
  readonly maxProbes: number
  /** Questions at a time, over the whole fleet. */
  readonly concurrency: number
  /** What follows when it did not act: it is sent again under the same key, or waits as a dead letter for a person. */
  readonly didNot: 'resend' | 'review'
}

export type JsonTemplate =
  | string
  | number
  | boolean
  | null
  | readonly JsonTemplate[]
  | { readonly [name: string]: JsonTemplate }

export type LookupRule = {
  /** Inclusive; no range is any status. */
  readonly statuses: readonly (readonly [number, number])[]
  /** RFC 6901, into the answer's JSON; `null`: the status alone decides. */
  readonly pointer: string | null
  readonly test: LookupTest
  readonly finding: Finding
}

export type LookupTest =
  | { readonly kind: 'exists' }
  | { readonly kind: 'absent' }
  /** An empty list, object or text. */
  | { readonly kind: 'empty' }
  | { readonly kind: 'not_empty' }
  /** A text may hold placeholders. */
  | { readonly kind: 'equals'; readonly value: string | number | boolean | null }

/** What placeholders are filled with: what is on record about the entry. */
export type LookupValues = {
  readonly entry: string
  readonly key: string
  readonly source: string
  readonly deliveryId: string
  readonly attempt: number
  /** Epoch ms; `null` where no attempt is on record any more. */
  readonly firstAttemptAt: number | null
  readonly lastAttemptAt: number | null
  readonly references: readonly (readonly [name: string, value: string])[]
}
