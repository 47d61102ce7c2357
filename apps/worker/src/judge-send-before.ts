import { type DestinationContract, keyWindowEndsAt, type LeasedEntry } from '@counterfoil/core'

/**
 * Until when, by this process's monotonic clock, a byte of this entry may leave: while the lease lasts, and for a
 * doubtful entry while its key still protects. Judged once more in the tick in which the headers go.
 */
export function judgeSendBefore(leased: LeasedEntry, contract: DestinationContract): number {
  const { history, lease } = leased
  if (history.uncertainSince === null) return lease.sendBefore
  const endsAt = keyWindowEndsAt(history, contract, lease.openedAt)
  // Without a key `judgeLease` has already held it.
  if (endsAt === null) return lease.askedAt
  return Math.min(lease.sendBefore, lease.askedAt + (endsAt - lease.openedAt))
}
