import type { TransitionOutcome } from '@counterfoil/core'
import type { DeferredResult } from '../intake-options.js'

/** Counts while a page of deferred deliveries is decided. */
export type DeferralCount = {
  readonly decided: Partial<Record<TransitionOutcome, number>>
  postponed: number
  skipped: number
  failed: number
  readonly destinations: Set<string>
}

export function startCount(): DeferralCount {
  return { decided: {}, postponed: 0, skipped: 0, failed: 0, destinations: new Set() }
}

export function countDecided(count: DeferralCount, outcome: TransitionOutcome): void {
  count.decided[outcome] = (count.decided[outcome] ?? 0) + 1
}

export function finishCount(count: DeferralCount): DeferredResult {
  const { decided, postponed, skipped, failed, destinations } = count
  return { decided, applied: decided.applied ?? 0, postponed, skipped, failed, destinations: [...destinations] }
}
