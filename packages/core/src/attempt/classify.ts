import type { DestinationContract } from './destination-contract.js'
import { judgeUnsentError } from './error-classes.js'
import type { AttemptOutcome, UncertainPhase } from './outcome.js'
import { parseRetryAfter } from './parse-retry-after.js'
import type { Sent } from './sent.js'
import { judgeStatus } from './status-classes.js'

type Answered = Extract<Sent, { kind: 'answered' }>
type Failed = Extract<Sent, { kind: 'failed' }>
export type ClassifyContract = Pick<DestinationContract, 'idempotency' | 'retry' | 'replayMarkers'>

/** A request that is still being worked on is asked about again after this, unless the destination says when. */
const IN_PROGRESS_MS = 5_000

/**
 * What an attempt is known to have done. Total, pure, and in this order:
 *
 * 1. a known status decides by status, whatever became of the body;
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
  const verdict = judgeStatus(status)
  switch (verdict.kind) {
    case 'accepted':
      return { kind: 'accepted', status, repeat: saysRepeat(sent, contract) }
    case 'rejected':
      return { kind: 'rejected', status, reason: verdict.reason }
    case 'unauthorised':
      return { kind: 'unauthorised', status }
    case 'deferred':
      return { kind: 'deferred', status, notBefore: readNotBefore(sent, contract, now) }
    case 'not_processed':
      return { kind: 'not_sent', cause: 'not_processed', code: null, status }
    case 'uncertain':
      return answeredInDoubt(status, verdict.cause, readNotBefore(sent, contract, now))
    case 'in_progress_with_key':
      if (contract.idempotency.kind === 'none') return { kind: 'rejected', status, reason: 'refused' }
      return answeredInDoubt(status, 'in_progress', readNotBefore(sent, contract, now) ?? now + IN_PROGRESS_MS)
  }
}

function answeredInDoubt(status: number, cause: string, notBefore: number | null): AttemptOutcome {
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

function readNotBefore(sent: Answered, contract: ClassifyContract, now: number): number | null {
  const headers = { retryAfter: header(sent, 'retry-after'), date: header(sent, 'date') }
  const delayMs = parseRetryAfter(headers, now, contract.retry.maxRetryAfterMs)
  return delayMs === null ? null : now + delayMs
}

/** Does the destination say that it had seen the key before? Only a 2xx is asked: a replayed 5xx decides nothing. */
function saysRepeat(sent: Answered, contract: ClassifyContract): boolean {
  return contract.replayMarkers.some((marker) => {
    const value = header(sent, marker.header.toLowerCase())
    if (value === undefined) return false
    return marker.value === null || value.trim().toLowerCase() === marker.value.trim().toLowerCase()
  })
}

function header(sent: Answered, name: string): string | undefined {
  return Object.hasOwn(sent.headers, name) ? sent.headers[name] : undefined
}
