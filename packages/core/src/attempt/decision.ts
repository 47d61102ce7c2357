/** What is to become of an entry after an attempt. Produced by `decide`, written by `closeAttempts`. */
export type Decision =
  | { readonly kind: 'finish'; readonly as: 'delivered'; readonly repeat: boolean }
  | { readonly kind: 'retry'; readonly dueInMs: number; readonly because: RetryReason; readonly spendsBudget: boolean }
  /** `stopsDestination`: the answer is about the whole destination, which pauses until a person resumes it. */
  | {
      readonly kind: 'hold'
      readonly as: 'uncertain'
      readonly because: UncertainReason
      readonly stopsDestination?: 'gone'
    }
  | { readonly kind: 'dead_letter'; readonly because: DeadLetterReason; readonly stopsDestination?: 'gone' }
  /** The destination is paused with a reason for `pauseMs` (`null`: until resumed); the entry keeps its tries and waits. */
  | {
      readonly kind: 'pause'
      readonly because: 'credentials' | 'throttled'
      readonly dueInMs: number
      readonly pauseMs: number | null
    }

export type RetryReason = 'not_sent' | 'deferred' | 'uncertain_with_key'
export type UncertainReason =
  | 'no_key'
  | 'key_window_closed'
  | 'attempts_used_up'
  | 'too_old'
  | 'rejected_after_doubt'
  /** The same key would only bring the same answer again. */
  | 'retry_tells_nothing'
/** `rejected_for_all`: a no that ends the doubt about earlier attempts, too. */
export type DeadLetterReason = 'rejected' | 'rejected_for_all' | 'attempts_used_up' | 'too_old' | 'unsendable'

/**
 * What an outcome that came after its lease was lost does to an entry that nobody holds.
 * `keep`: it stays as evidence only.
 */
export type LateDecision =
  | { readonly kind: 'finish'; readonly as: 'delivered'; readonly repeat: boolean }
  | { readonly kind: 'dead_letter'; readonly because: 'rejected' }
  /** The attempt proves to have done nothing, and no other is in doubt: the entry is pending without doubt. */
  | { readonly kind: 'clear_doubt' }
  | { readonly kind: 'keep' }
