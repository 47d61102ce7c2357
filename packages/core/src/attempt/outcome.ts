/**
 * What one attempt is known to have done, and nothing that is not known.
 * Only `accepted` and `rejected` are definite answers about the effect.
 */
export type AttemptOutcome =
  /** The destination said yes. `repeat`: it says that it had seen the key before. */
  | { readonly kind: 'accepted'; readonly status: number; readonly repeat: boolean }
  /** A definite no: repeating the same request won't help. `status` is `null` only for `unsendable`. */
  | {
      readonly kind: 'rejected'
      readonly status: number | null
      readonly reason: RejectedReason
      /** A matcher says that this answer holds for earlier attempts under the same key, too. */
      readonly decidesEarlier?: true
    }
  /** Our credentials were refused: nothing was processed, and the entry is not to blame. */
  | { readonly kind: 'unauthorised'; readonly status: number }
  /** A definite not-now: refused before any work began. `notBefore` is epoch ms. */
  | { readonly kind: 'deferred'; readonly status: number; readonly notBefore: number | null }
  /** Provably nothing left the process, or (with a `status`, cause `not_processed`) nothing was worked on. */
  | {
      readonly kind: 'not_sent'
      readonly cause: NotSentCause
      readonly code: string | null
      readonly status?: number
    }
  /** Bytes may have left and no definite answer came. Never call this a failure (I6). */
  | {
      readonly kind: 'uncertain'
      readonly phase: UncertainPhase
      readonly cause: string
      readonly status: number | null
      readonly notBefore: number | null
      /** The same key would only bring this answer again: a stored failure, or a partial success. */
      readonly retryTellsNothing?: true
    }

export type RejectedReason =
  | 'refused'
  | 'redirected'
  | 'gone'
  | 'key_reused'
  /** Our own bug or configuration: the request could not even be built. */
  | 'unsendable'

export type NotSentCause =
  | 'dns'
  | 'connect'
  | 'tls'
  | 'local_exhaustion'
  | 'egress_refused'
  /** No credentials to send with: the token endpoint gave none. */
  | 'no_credentials'
  | 'aborted_before_send'
  /** A known status that says "not processed": 421, 423, 425, 507, edge errors. */
  | 'not_processed'
  /** A lease that was handed back, or woke after its time. */
  | 'lease_returned'
  /** Leased, judged again, and not sent: the key's window had closed meanwhile. */
  | 'held_back'
  | 'unknown_before_send'

export type UncertainPhase = 'sending' | 'waiting_for_answer' | 'reading_answer' | 'answered' | 'worker_lost'
