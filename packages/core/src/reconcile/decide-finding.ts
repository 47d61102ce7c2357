import type { DestinationContract } from '../attempt/destination-contract.js'
import type { Found } from './finding.js'
import type { LookupContract } from './lookup-contract.js'

export type ReconcileContract = Pick<DestinationContract, 'retry' | 'timeouts'> & {
  readonly lookup: LookupContract
  /** `null`: nobody said; then only the number of questions ends the asking. */
  readonly reviewWindowMs: number | null
}

/** Where the entry stands when the answer is written down, read under its lock. Epoch ms by the database clock. */
export type FindingSituation = {
  /** Still held by the same hold that was asked about? */
  readonly isSameHold: boolean
  readonly askedAt: number
  readonly heldAt: number
  readonly createdAt: number
  readonly now: number
  readonly tries: number
  /** Questions asked about this hold, this one included. */
  readonly probes: number
  readonly contentErased: boolean
}

export type FindingDecision =
  /** Taken for delivered: the destination's own record shows that it acted. */
  | { readonly kind: 'deliver' }
  /** Provably without effect: due again, same key, same bytes, attempt numbers go on. */
  | { readonly kind: 'return' }
  | { readonly kind: 'dead_letter'; readonly because: 'did_not' }
  | { readonly kind: 'ask_again'; readonly dueInMs: number; readonly because: 'still_unknown' | 'too_early' }
  | { readonly kind: 'wait_for_person'; readonly because: 'probes_used_up' | 'review_window_over' }
  /** Somebody or something else has moved the entry meanwhile: evidence only. */
  | { readonly kind: 'keep' }

/** From when on nothing that was sent can still be on its way: the hold, the total time-out once more, and the grace. */
export function quietSince(heldAt: number, contract: Pick<ReconcileContract, 'lookup' | 'timeouts'>): number {
  return heldAt + quietMs(contract)
}

export function quietMs({ timeouts, lookup }: Pick<ReconcileContract, 'lookup' | 'timeouts'>): number {
  return timeouts.totalMs + lookup.graceMs
}

/**
 * What a finding does. Pure; total. A yes counts whenever it was asked for; a no only if it was asked for when nothing
 * could still be on its way, since a request that arrives after the question would make it a lie.
 *
 * @param random uniform in [0, 1)
 */
export function decideFinding(
  found: Pick<Found, 'finding' | 'retryAfterMs'>,
  situation: FindingSituation,
  contract: ReconcileContract,
  random: () => number,
): FindingDecision {
  if (!situation.isSameHold) return { kind: 'keep' }
  switch (found.finding) {
    case 'took_effect':
      return { kind: 'deliver' }
    case 'did_not':
      if (situation.askedAt < quietSince(situation.heldAt, contract)) return askTooEarly(situation, contract)
      return mayResend(situation, contract) ? { kind: 'return' } : { kind: 'dead_letter', because: 'did_not' }
    case 'still_unknown':
      return askAgain(found.retryAfterMs, situation, contract, random)
  }
}

function askTooEarly(situation: FindingSituation, contract: ReconcileContract): FindingDecision {
  const dueInMs = Math.max(0, quietSince(situation.heldAt, contract) - situation.now)
  return { kind: 'ask_again', dueInMs, because: 'too_early' }
}

function mayResend({ tries, createdAt, now, contentErased }: FindingSituation, contract: ReconcileContract): boolean {
  if (contract.lookup.didNot === 'review' || contentErased) return false
  return tries < contract.retry.maxAttempts && now - createdAt <= contract.retry.maxAgeMs
}

function askAgain(
  retryAfterMs: number | null,
  { probes, heldAt, now }: FindingSituation,
  contract: ReconcileContract,
  random: () => number,
): FindingDecision {
  if (probes >= contract.lookup.maxProbes) return { kind: 'wait_for_person', because: 'probes_used_up' }
  const leftMs = contract.reviewWindowMs === null ? Number.POSITIVE_INFINITY : heldAt + contract.reviewWindowMs - now
  if (leftMs <= 0) return { kind: 'wait_for_person', because: 'review_window_over' }
  const wishedMs = Math.max(nextGapMs(probes, contract.lookup, random), retryAfterMs ?? 0)
  // The last question comes when the window ends, not after it.
  return { kind: 'ask_again', dueInMs: Math.min(wishedMs, leftMs), because: 'still_unknown' }
}

/**
 * Doubles from `firstMs` up to `capMs`; a fifth of it up or down at random, so that doubts that arose together don't
 * come back together.
 *
 * @param probes questions asked so far, at least 1
 */
export function nextGapMs(
  probes: number,
  { firstMs, capMs }: Pick<LookupContract, 'firstMs' | 'capMs'>,
  random: () => number,
): number {
  const gap = Math.min(capMs, firstMs * 2 ** Math.min(Math.max(0, probes - 1), 30))
  return Math.round(gap * (0.8 + 0.4 * random()))
}
