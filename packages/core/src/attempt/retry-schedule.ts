import type { DestinationContract } from './destination-contract.js'

export type RetryLaw = Pick<DestinationContract['retry'], 'firstMs' | 'capMs'>

/** Share of a `Retry-After` that is added at random, so that a fleet doesn't come back in one instant. */
const RETRY_AFTER_JITTER = 0.1
const MAX_RETRY_AFTER_JITTER_MS = 5_000

/**
 * Own backoff: bounded, exponential, full jitter.
 *
 *     retry 1:   uniform in [0.8, 1.2] × firstMs
 *     retry n:   uniform in [firstMs, min(capMs, firstMs × 2^n)]        n ≥ 2
 *
 * The first is close to `firstMs` because most faults are over by then; later ones spread over the whole range,
 * which is what thins a crowd of entries that failed together. Never above `capMs`.
 *
 * @param failures how many tries failed so far, at least 1
 * @param random uniform in [0, 1)
 * @returns whole ms
 */
export function retryDelayMs(failures: number, law: RetryLaw, random: () => number): number {
  const first = Math.min(law.firstMs, law.capMs)
  if (failures <= 1) return Math.min(law.capMs, Math.round(first * (0.8 + 0.4 * random())))
  // 2^30 × 1 ms is 12 days: further doubling only overflows.
  const ceiling = Math.min(law.capMs, first * 2 ** Math.min(failures, 30))
  return Math.round(first + (ceiling - first) * random())
}

/**
 * The later of own backoff and the destination's wish, the wish with a little added jitter:
 * "not before" is a bound, so jitter never goes below it.
 */
export function nextDelayMs(ownMs: number, notBeforeMs: number | null, random: () => number): number {
  if (notBeforeMs === null || notBeforeMs <= ownMs) return ownMs
  return Math.round(notBeforeMs + Math.min(notBeforeMs * RETRY_AFTER_JITTER, MAX_RETRY_AFTER_JITTER_MS) * random())
}
