import type { AttemptHistory } from '../outbox/entry.js'
import type { Decision } from './decision.js'
import type { DestinationContract } from './destination-contract.js'

export type KeyContract = Pick<DestinationContract, 'idempotency'>

/**
 * Until when the key protects a repeated send: its lifetime from the first send that may have arrived, less a margin.
 *
 * @returns epoch ms by the database clock, infinite for an upsert; `null`: the destination honours no keys, so nothing
 * ever protects.
 */
export function keyWindowEndsAt(history: AttemptHistory, contract: KeyContract, now: number): number | null {
  const { idempotency } = contract
  if (idempotency.kind === 'none') return null
  // What is written over itself stays one thing however late it comes.
  if (idempotency.kind === 'upsert') return Number.POSITIVE_INFINITY
  return (history.firstSentAt ?? now) + idempotency.lifetimeMs - idempotency.marginMs
}

/** May a doubtful entry be sent at `at`? An open window is one that ends after it. */
export function mayRepeatAt(
  at: number,
  history: AttemptHistory,
  contract: KeyContract,
  now: number,
): 'yes' | 'no_key' | 'key_window_closed' {
  const endsAt = keyWindowEndsAt(history, contract, now)
  if (endsAt === null) return 'no_key'
  return at < endsAt ? 'yes' : 'key_window_closed'
}

/**
 * Judged again when the entry is leased: a pause or a stopped worker may have outlasted the window that was open when
 * the retry was decided. Without doubt there is nothing to protect, and it is sent.
 *
 * @param now the database's time, epoch ms
 */
export function judgeLease(
  history: AttemptHistory,
  contract: KeyContract,
  now: number,
): { readonly kind: 'send' } | Extract<Decision, { kind: 'hold' }> {
  if (history.uncertainSince === null) return { kind: 'send' }
  const allowed = mayRepeatAt(now, history, contract, now)
  return allowed === 'yes' ? { kind: 'send' } : { kind: 'hold', as: 'uncertain', because: allowed }
}
