import type { Finding, JsonTemplate } from '@counterfoil/core'
import type { Duration } from './duration.js'

/** A status, or all of a class. */
export type StatusPattern = number | '2xx' | '3xx' | '4xx' | '5xx'

/** What an answer to the question says. A rule without a pointer goes by the status alone. */
export type LookupRuleDefinition = {
  /** Any, where it is left out. */
  readonly status?: StatusPattern | readonly StatusPattern[]
  /** JSON pointer (RFC 6901) into the answer. Without a test, that something is there. */
  readonly pointer?: string
  /** A text may hold placeholders: `{key}`. */
  readonly equals?: string | number | boolean | null
  readonly exists?: boolean
  /** Is the list, object or text there empty? */
  readonly empty?: boolean
  readonly finding: Finding
}

/**
 * How to ask a destination whether it acted. The request goes out with the destination's own headers, under its own
 * time-outs, caps and egress rules.
 *
 * Placeholders: `{key}`, `{entry}`, `{source}`, `{delivery_id}`, `{attempt}`, `{first_attempt_at}`,
 * `{last_attempt_at}`, `{reference.<name>}`.
 */
export type LookupDefinition = {
  /** Default `GET`. A `POST` needs `search: true`. */
  readonly method?: 'GET' | 'POST'
  /** Says that this POST only searches: asking must never change anything. */
  readonly search?: true
  /** A path, or a URL on the destination's own origin; placeholders in path and query. */
  readonly url: string
  /** JSON of a search, with placeholders in its texts. */
  readonly body?: JsonTemplate
  /** The first that applies decides; none: still unknown. */
  readonly rules: readonly LookupRuleDefinition[]
  /** How long after the total time-out a "no" is believed. Default `30s`; longer where its search lags behind. */
  readonly grace?: Duration
  /** Gap before the second question, doubled each time up to `cap`. Default `1m`, `1h`. */
  readonly first?: Duration
  readonly cap?: Duration
  /** Questions about one doubt. Default 10. */
  readonly maxProbes?: number
  /** Questions at a time, over the whole fleet. Default 2. */
  readonly concurrency?: number
  /** When it did not act: send it again (default), or leave it to a person. */
  readonly didNot?: 'resend' | 'review'
}
