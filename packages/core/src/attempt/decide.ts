import type { AttemptHistory } from '../outbox/entry.js'
import type { DeadLetterReason, Decision, RetryReason, UncertainReason } from './decision.js'
import type { DestinationContract } from './destination-contract.js'
import { keyWindowEndsAt, mayRepeatAt } from './key-window.js'
import type { AttemptOutcome } from './outcome.js'
import { nextDelayMs, retryDelayMs } from './retry-schedule.js'

export type DecideContract = Pick<DestinationContract, 'idempotency' | 'retry'>

/** Refused credentials are tried again with one entry a minute: soon after a repair, far below a lockout. */
const CREDENTIALS_PROBE_MS = 60_000

/** A last try under a key that is about to be forgotten leaves this long before its window closes. */
const LAST_TRY_SPARE_MS = 5_000

/** A destination that sheds load without saying for how long: long enough to thin a burst, short if it was a blip. */
const SHED_PAUSE_MS = 1_000

type Judged = {
  readonly history: AttemptHistory
  readonly contract: DecideContract
  readonly now: number
  readonly random: () => number
}

/**
 * What is to become of an entry: the table over (history × outcome). Pure; total.
 *
 * Doubt is never lost (I6): an entry with `uncertainSince` leaves here delivered, held as uncertain, or as a retry
 * that falls inside its key window. It is never dead-lettered.
 *
 * @param history before this attempt; `firstSentAt` counts it
 * @param now the database's time, epoch ms (`databaseNow`)
 * @param random uniform in [0, 1)
 */
export function decide(
  outcome: AttemptOutcome,
  history: AttemptHistory,
  contract: DecideContract,
  now: number,
  random: () => number,
): Decision {
  const judged = { history, contract, now, random }
  switch (outcome.kind) {
    case 'accepted':
      return { kind: 'finish', as: 'delivered', repeat: outcome.repeat }
    case 'rejected':
      return decideRejected(outcome, judged)
    case 'unauthorised':
      return { kind: 'pause', because: 'credentials', dueInMs: 0, pauseMs: CREDENTIALS_PROBE_MS }
    case 'deferred':
      return decideDeferred(outcome.notBefore, judged)
    case 'not_sent':
      return decideNotSent(outcome, judged)
    case 'uncertain':
      if (outcome.retryTellsNothing && contract.idempotency.kind !== 'none') return hold('retry_tells_nothing')
      return retryOrEnd('uncertain_with_key', outcome.notBefore, judged, { inDoubt: true, spends: true })
  }
}

/** A definite no to this try says nothing about an earlier one that may have worked, unless a matcher knows that it does. */
function decideRejected(outcome: Extract<AttemptOutcome, { kind: 'rejected' }>, { history }: Judged): Decision {
  const stops = outcome.reason === 'gone' ? ({ stopsDestination: 'gone' } as const) : {}
  if (history.uncertainSince !== null) {
    if (outcome.decidesEarlier) return { kind: 'dead_letter', because: 'rejected_for_all', ...stops }
    return { kind: 'hold', as: 'uncertain', because: 'rejected_after_doubt', ...stops }
  }
  return { kind: 'dead_letter', because: outcome.reason === 'unsendable' ? 'unsendable' : 'rejected', ...stops }
}

/** What was our own doing, a stop or a lease that ran out while we slept, costs the entry no try. */
function decideNotSent({ cause }: Extract<AttemptOutcome, { kind: 'not_sent' }>, judged: Judged): Decision {
  const isOurDoing = cause === 'lease_returned'
  return retryOrEnd('not_sent', null, judged, { inDoubt: judged.history.uncertainSince !== null, spends: !isOurDoing })
}

/** Costs no try and pauses the destination, for as long as it asked or briefly where it didn't say. */
function decideDeferred(notBefore: number | null, judged: Judged): Decision {
  const next = retryOrEnd('deferred', notBefore, judged, {
    inDoubt: judged.history.uncertainSince !== null,
    spends: false,
  })
  if (next.kind !== 'retry') return next
  const pauseMs = notBefore === null ? Math.min(SHED_PAUSE_MS, next.dueInMs) : Math.max(0, notBefore - judged.now)
  return { kind: 'pause', because: 'throttled', dueInMs: next.dueInMs, pauseMs }
}

function retryOrEnd(
  because: RetryReason,
  notBefore: number | null,
  { history, contract, now, random }: Judged,
  { inDoubt, spends }: { readonly inDoubt: boolean; readonly spends: boolean },
): Decision {
  const triesAfter = history.tries + (spends ? 1 : 0)
  if (inDoubt && contract.idempotency.kind === 'none') return hold('no_key')
  if (spends && triesAfter >= contract.retry.maxAttempts) return end('attempts_used_up', inDoubt)

  // What spends no try still backs off further each time: attempts count them all.
  const ownMs = retryDelayMs(spends ? triesAfter : history.attempts + 1, contract.retry, random)
  const askedMs = nextDelayMs(ownMs, notBefore === null ? null : notBefore - now, random)
  // Later than the key lives would be never. A destination that is paused can't be asked earlier, though.
  const lastMs = because === 'uncertain_with_key' ? lastTryInMs(history, contract, now) : Number.POSITIVE_INFINITY
  const dueInMs = askedMs > lastMs && ownMs <= lastMs ? lastMs : askedMs
  if (now + dueInMs - history.createdAt > contract.retry.maxAgeMs) return end('too_old', inDoubt)
  if (inDoubt) {
    const allowed = mayRepeatAt(now + dueInMs, history, contract, now)
    if (allowed !== 'yes') return hold(allowed)
  }
  return { kind: 'retry', dueInMs, because, spendsBudget: spends }
}

function lastTryInMs(history: AttemptHistory, contract: DecideContract, now: number): number {
  const endsAt = keyWindowEndsAt(history, contract, now)
  return endsAt === null ? Number.POSITIVE_INFINITY : Math.floor(endsAt - now - LAST_TRY_SPARE_MS)
}

function end(because: UncertainReason & DeadLetterReason, inDoubt: boolean): Decision {
  return inDoubt ? hold(because) : { kind: 'dead_letter', because }
}

function hold(because: UncertainReason): Decision {
  return { kind: 'hold', as: 'uncertain', because }
}
