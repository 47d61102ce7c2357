import { formatDuration } from './format-instant.js'
import type { WeighedAttempt } from './weigh-attempts.js'

type Described = Pick<WeighedAttempt, 'outcome' | 'status' | 'repeat' | 'cause' | 'detail' | 'durationMs'>

const NOT_SENT: Readonly<Record<string, string>> = {
  dns: 'the name could not be resolved',
  connect: 'no connection could be made',
  tls: 'the TLS handshake failed',
  local_exhaustion: 'this machine ran out of sockets or files',
  egress_refused: 'the address is not allowed',
  no_credentials: 'no credentials could be had for it',
  aborted_before_send: 'it was called off before anything left',
  not_processed: 'it was turned away before any work began',
  lease_returned: 'the worker handed it back before anything left',
  held_back: 'it was held back: the key no longer protects a repeat',
  unknown_before_send: 'it failed before anything left',
}

const REJECTED: Readonly<Record<string, string>> = {
  refused: 'refused',
  redirected: 'refused: it answered with a redirect, which is never followed',
  gone: 'refused: the endpoint is gone',
  key_reused: 'refused: it knows the key with other content',
  unsendable: 'not sent: the request could not be built',
}

const UNCERTAIN: Readonly<Record<string, string>> = {
  sending: 'the connection ended while it was being sent',
  waiting_for_answer: 'no answer came',
  reading_answer: 'the answer was cut off',
  answered: 'the answer does not say whether it acted',
  worker_lost: 'the worker was lost before it could record an answer',
}

/** Why an outcome is what it is, e.g. "no answer came after 10.0 s". Never says more than is known. */
export function describeOutcome(attempt: Described): string {
  const status = attempt.status === null ? '' : ` (${attempt.status})`
  switch (attempt.outcome) {
    case 'accepted':
      return attempt.repeat ? `recognised as a repeat and ignored${status}` : `accepted${status}`
    case 'rejected':
      return `${own(REJECTED, attempt.cause) ?? 'refused'}${status}`
    case 'unauthorised':
      return `our credentials were refused${status}`
    case 'deferred':
      return `turned away for now${status}`
    case 'not_sent':
      return `not sent: ${own(NOT_SENT, attempt.cause) ?? 'nothing left this process'}${status}`
    case 'uncertain':
      return `unknown: ${describeDoubt(attempt)}`
  }
}

/** What is missing to know the effect of an uncertain attempt. */
export function describeDoubt(attempt: Described): string {
  const why = own(UNCERTAIN, attempt.cause) ?? 'no definite answer came'
  const status = attempt.status === null ? '' : ` (${attempt.status})`
  const after =
    attempt.durationMs === null || attempt.cause === 'worker_lost' ? '' : ` after ${formatDuration(attempt.durationMs)}`
  return `${why}${status}${after}`
}

function own(table: Readonly<Record<string, string>>, name: string | null): string | undefined {
  return name !== null && Object.hasOwn(table, name) ? table[name] : undefined
}
