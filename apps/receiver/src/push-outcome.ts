import type { DeliveryResult, TransitionOutcome } from '@counterfoil/core'
import type { Greeted, PushEnd } from './push-end.js'

/** The word of the wide line: what one push came to. */
export type PushOutcome =
  | TransitionOutcome
  | 'accepted'
  | 'already_processed'
  | 'conflict'
  | 'refused'
  /** No delivery, and nothing wrong: a sender asked before it sends. */
  | 'handshake'
  | 'retryable_failure'

/** What a success answer may tell: what the first arrival came to, also when this one is a repeat. */
export function answerOutcome(results: readonly DeliveryResult[]): TransitionOutcome | 'accepted' {
  return results[0]?.outcome ?? 'accepted'
}

/** A batch is told by its most remarkable delivery: a conflict, then a first arrival, then repeats. */
export function pushOutcome(end: PushEnd): PushOutcome {
  switch (end.kind) {
    case 'turned_away':
      return isOurFault(end.cause) ? 'retryable_failure' : 'refused'
    case 'unreadable':
      return isOurFault(end.cause) ? 'retryable_failure' : 'refused'
    case 'refused':
    case 'malformed':
      return 'refused'
    case 'greeted':
      return greetingOutcome(end)
    case 'unjudged':
    case 'misconfigured':
    case 'broken':
      return 'retryable_failure'
    case 'claimed':
      if (end.claim.kind === 'refused') return end.claim.outcome
      return end.claim.kind === 'committed' ? committedOutcome(end.claim.results) : 'retryable_failure'
  }
}

function greetingOutcome(end: Greeted): PushOutcome {
  if (end.unconfirmed !== null) return 'retryable_failure'
  return end.answer.status < 400 ? 'handshake' : 'refused'
}

function committedOutcome(results: readonly DeliveryResult[]): PushOutcome {
  let repeated = false
  let outcome: PushOutcome | null = null
  for (const result of results) {
    if (result.kind === 'conflict') return 'conflict'
    if (result.kind === 'duplicate') repeated = true
    else outcome ??= result.outcome ?? 'accepted'
  }
  return outcome ?? (repeated ? 'already_processed' : 'accepted')
}

const OUR_FAULTS: ReadonlySet<string> = new Set(['overloaded', 'clock_unknown', 'clock_off', 'body_consumed'])

function isOurFault(cause: string): boolean {
  return OUR_FAULTS.has(cause)
}
