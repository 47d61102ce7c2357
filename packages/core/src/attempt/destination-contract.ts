import type { LookupContract } from '../reconcile/lookup-contract.js'
import type { AnswerMatcher } from './answer-matcher.js'
import type { DestinationAuth, DestinationTls } from './destination-auth.js'

/** What we know about a destination, resolved from configuration. Durations in ms. */
export type DestinationContract = {
  readonly name: string
  readonly url: string
  readonly method: 'POST' | 'PUT' | 'PATCH'
  /** Sent as they are; secrets are already resolved, so this object is never logged. */
  readonly headers: Readonly<Record<string, string>>
  readonly idempotency:
    | {
        readonly kind: 'header'
        readonly header: string
        /** RFC 8941 string (`"key"`) instead of the bare key. */
        readonly quoted: boolean
        /** How long the destination remembers a key. */
        readonly lifetimeMs: number
        /** Automatic retries of a doubtful send stop this long before the lifetime does. */
        readonly marginMs: number
      }
    /** The key stands in the body, where it was frozen with it. */
    | {
        readonly kind: 'body'
        readonly pointer: string
        readonly lifetimeMs: number
        readonly marginMs: number
      }
    /** The action writes over itself, by a natural key in its URL or body: repeating it is harmless for ever. */
    | { readonly kind: 'upsert' }
    | { readonly kind: 'none' }
  readonly timeouts: {
    readonly connectMs: number
    readonly headersMs: number
    readonly bodyMs: number
    readonly totalMs: number
  }
  /** Longer than `timeouts.totalMs` plus a margin. */
  readonly leaseMs: number
  /** Slots of one worker. */
  readonly concurrency: number
  readonly responseCapBytes: number
  /** May the resolved address be private, loopback or link-local? */
  readonly allowPrivate: boolean
  readonly retry: {
    readonly firstMs: number
    readonly capMs: number
    /** Budget of tries; 429, 503 and 401 spend none. */
    readonly maxAttempts: number
    readonly maxAgeMs: number
    /** `Retry-After` is obeyed up to this. */
    readonly maxRetryAfterMs: number
  }
  readonly auth: DestinationAuth | null
  readonly tls: DestinationTls | null
  /** What this destination's answers mean where that differs from the table by status; the first that holds decides. */
  readonly matchers: readonly AnswerMatcher[]
  /** Response headers that say "I had seen this key before"; `value: null` accepts any. */
  readonly replayMarkers: readonly { readonly header: string; readonly value: string | null }[]
  /** How to ask whether it acted; without one only an answer or a person ends a doubt. */
  readonly lookup?: LookupContract
  /** How long a doubt may be open before it is overdue and a person has to look. Nobody said: at once. */
  readonly reviewWindowMs?: number
}
