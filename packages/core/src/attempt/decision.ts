/** What is to become of an entry after an attempt. Produced by `decide`, written by `closeAttempts`. */
export type Decision =
  | { readonly kind: 'finish'; readonly as: 'delivered'; readonly repeat: boolean }
  | { readonly kind: 'retry'; readonly dueInMs: number; readonly because: RetryReason; readonly spendsBudget: boolean }
  | { readonly kind: 'hold'; readonly as: 'uncertain'; readonly because: UncertainReason }
  | { readonly kind: 'dead_letter'; readonly because: DeadLetterReason }
  /** The destination is paused with a reason; the entry keeps its tries and waits. */
  | {
      readonly kind: 'pause'
      readonly because: 'credentials' | 'throttled'
      readonly dueInMs: number
      readonly pauseMs: number | null
    }

export type RetryReason = 'not_sent' | 'deferred' | 'uncertain_with_key'
export type UncertainReason = 'no_key' | 'key_window_closed' | 'attempts_used_up' | 'too_old' | 'rejected_after_doubt'
export type DeadLetterReason = 'rejected' | 'attempts_used_up' | 'too_old' | 'unsendable'
