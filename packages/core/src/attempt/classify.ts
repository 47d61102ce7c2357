import { type MatchResult, matchAnswer, readAnswerHeader } from './answer-matcher.js'
import type { DestinationContract } from './destination-contract.js'
import { judgeUnsentError } from './error-classes.js'
import type { AttemptOutcome, UncertainPhase } from './outcome.js'
import { parseRetryAfter } from './parse-retry-after.js'
import type { Sent } from './sent.js'
import { judgeStatus, type StatusVerdict } from './status-classes.js'

type Answered = Extract<Sent, { kind: 'answered' }>
type Failed = Extract<Sent, { kind: 'failed' }>
export type ClassifyContract = Pick<DestinationContract, 'idempotency' | 'retry' | 'replayMarkers' | 'matchers'>

/** A request that is still being worked on is asked about again after this, unless the destination says when. */
const IN_PROGRESS_MS = 5_000

const NOT_MATCHED: MatchResult = { kind: 'none' }
const STORED_FAILURE: StatusVerdict = { kind: 'uncertain', cause: 'stored_failure', retryTellsNothing: true }

/** When a quota is full again, the standard's name first. Only a "not now" is asked for it. */
const RESET_HEADERS = ['ratelimit-reset', 'x-ratelimit-reset', 'x-rate-limit-reset'] as const

/** Headers of an answer that is no success which rules may read, beside those of matchers and replay markers. */
export const ANSWER_HEADERS: readonly string[] = ['retry-after', 'date', ...RESET_HEADERS]

/**
 * What an attempt is known to have done. Total, pure, and in this order:
 *
 * 1. a known status decides: by the destination's matchers, the first that holds; then a failure that is replayed from
 *    the destination's memory is held; then by the table of statuses, whatever became of the body;
 * 2. else headers that were never handed to the socket prove that nothing left;
 * 3. else it is uncertain, whatever the error code says. A missing marker counts as handed over.
 *
 * @param now the database's time, epoch ms: dates in the answer are turned into `notBefore` against it
 */
export function classify(sent: Sent, contract: ClassifyContract, now: number): AttemptOutcome {
  return sent.kind === 'answered' ? classifyAnswer(sent, contract, now) : classifyFailure(sent)
}

function classifyAnswer(sent: Answered, contract: ClassifyContract, now: number): AttemptOutcome {
  const { status } = sent
  const matched = contract.matchers.length === 0 ? NOT_MATCHED : matchAnswer(sent, contract.matchers)
  if (matched.kind === 'unreadable') {
    const notBefore = readNotBefore(sent, contract, now)
    return { kind: 'uncertain', phase: 'reading_answer', cause: 'body_unreadable', status, notBefore }
  }
  const replayed = saysRepeat(sent, contract)
  const verdict = matched.kind === 'matched' ? matched.verdict : judgeUnmatched(status, replayed)
  switch (verdict.kind) {
    case 'accepted':
      return { kind: 'accepted', status, repeat: verdict.repeat ?? replayed }
    case 'rejected': {
      const { reason } = verdict
      return { kind: 'rejected', status, reason, ...(verdict.decidesEarlier ? { decidesEarlier: true } : {}) }
    }
    case 'unauthorised':
      return { kind: 'unauthorised', status }
    case 'deferred':
      return { kind: 'deferred', status, notBefore: readNotBefore(sent, contract, now, readReset(sent)) }
    case 'not_processed':
      return { kind: 'not_sent', cause: 'not_processed', code: null, status }
    case 'uncertain': {
      const held = verdict.retryTellsNothing ? ({ retryTellsNothing: true } as const) : {}
      return { ...answeredInDoubt(status, verdict.cause, readNotBefore(sent, contract, now)), ...held }
    }
    case 'in_progress_with_key':
      if (contract.idempotency.kind === 'none') return { kind: 'rejected', status, reason: 'refused' }
      return answeredInDoubt(
        status,
        'in_progress',
        readNotBefore(sent, contract, now) ?? now + waitForProgressMs(contract),
      )
  }
}

/** No wish of a destination is obeyed for longer than its contract allows, and neither is one that we suppose it has. */
function waitForProgressMs({ retry }: ClassifyContract): number {
  return Math.min(IN_PROGRESS_MS, retry.maxRetryAfterMs)
}

/** A failure that comes out of the destination's memory decides nothing, and will come again as long as it remembers. */
function judgeUnmatched(status: number, replayed: boolean): StatusVerdict {
  return replayed && status >= 500 ? STORED_FAILURE : judgeStatus(status)
}

function answeredInDoubt(
  status: number,
  cause: string,
  notBefore: number | null,
): Extract<AttemptOutcome, { kind: 'uncertain' }> {
  return { kind: 'uncertain', phase: 'answered', cause, status, notBefore }
}

function classifyFailure(sent: Failed): AttemptOutcome {
  if (sent.headersHandedOver !== false) {
    return { kind: 'uncertain', phase: phaseOf(sent.step), cause: sent.code, status: null, notBefore: null }
  }
  const cause = judgeUnsentError(sent.code)
  if (cause === 'unsendable') return { kind: 'rejected', status: null, reason: 'unsendable' }
  return { kind: 'not_sent', cause, code: sent.code }
}

function phaseOf(step: Failed['step']): UncertainPhase {
  if (step === 'body') return 'reading_answer'
  return step === 'headers' || step === 'total' ? 'waiting_for_answer' : 'sending'
}

function readNotBefore(sent: Answered, contract: ClassifyContract, now: number, reset?: string): number | null {
  const { headers } = sent
  const wish = { retryAfter: readAnswerHeader(headers, 'retry-after'), date: readAnswerHeader(headers, 'date'), reset }
  const delayMs = parseRetryAfter(wish, now, contract.retry.maxRetryAfterMs)
  return delayMs === null ? null : now + delayMs
}

function readReset({ headers }: Answered): string | undefined {
  for (const name of RESET_HEADERS) {
    const value = readAnswerHeader(headers, name)
    if (value !== undefined) return value
  }
  return undefined
}

/** Does the destination say that it had seen the key before? */
function saysRepeat({ headers }: Answered, contract: ClassifyContract): boolean {
  // Most answers carry no header that a rule could ask for, and every attempt comes by here.
  if (Object.keys(headers).length === 0) return false
  return contract.replayMarkers.some(({ header, value }) => {
    const found = readAnswerHeader(headers, header.toLowerCase())
    if (found === undefined) return false
    return value === null || found.trim().toLowerCase() === value.trim().toLowerCase()
  })
}
