import {
  type AnswerOverrides,
  type ClaimResult,
  type HandshakeAnswer,
  listMethods,
  type RefusalAnswer,
  type SourceContract,
} from '@counterfoil/core'
import { describeError } from './describe-error.js'
import type { PushDeps } from './push-deps.js'
import type { PushEnd } from './push-end.js'
import { answerOutcome } from './push-outcome.js'

/** What goes back to the sender. A stranger learns a status and its standard title, nothing else. */
export type Answer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string | number>>
  readonly body: Buffer | null
}

const TITLES = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  417: 'Expectation Failed',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  // QStash: do not retry.
  489: 'Not Retryable',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
} as const
export type ProblemStatus = keyof typeof TITLES

/** Bounds of the `Retry-After` that we choose ourselves, seconds: soon enough to be quick, spread enough to be no herd. */
const SHORTEST_RETRY_S = 2
const LONGEST_RETRY_S = 10

export function problemTitle(status: ProblemStatus): string {
  return TITLES[status]
}

/** The RFC 9457 body of a status. */
export function problemBody(status: ProblemStatus): Buffer {
  return Buffer.from(JSON.stringify({ type: 'about:blank', title: TITLES[status], status }))
}

const PROBLEMS = new Map<ProblemStatus, Answer>()
for (const status of Object.keys(TITLES).map(Number) as ProblemStatus[]) {
  const body = problemBody(status)
  PROBLEMS.set(status, {
    status,
    headers: { 'content-type': 'application/problem+json', 'content-length': body.length },
    body,
  })
}

/** @param more headers that this status needs, such as `Allow` */
export function answerProblem(status: ProblemStatus, more?: Readonly<Record<string, string | number>>): Answer {
  const problem = PROBLEMS.get(status) ?? { status, headers: {}, body: null }
  return more === undefined ? problem : { ...problem, headers: { ...problem.headers, ...more } }
}

const NO_CONTENT: Answer = { status: 204, headers: {}, body: null }

/** One answer per end. Success only for what is committed (I1); our own fault is always 503, never a 4xx and never 410. */
export function chooseAnswer(end: PushEnd, deps: Pick<PushDeps, 'random' | 'log'>): Answer {
  const answers = end.source?.answers ?? {}
  switch (end.kind) {
    case 'turned_away':
      return answerTurnedAway(end, answers, deps.random)
    case 'unreadable':
      if (end.cause === 'too_large') return answerRefusal(answers.tooLarge, 413)
      return end.cause === 'too_slow' ? answerProblem(408) : answerLater(answers, deps.random)
    case 'refused':
      return answerRefusal(STALE.has(end.cause) ? (answers.stale ?? answers.unverified) : answers.unverified, 401)
    case 'greeted':
      return end.unconfirmed === null ? answerHandshakeWith(end.answer) : answerLater(answers, deps.random)
    case 'malformed':
      return answerRefusal(answers.malformed, 400)
    case 'claimed':
      return answerClaim(end.source, end.claim, deps)
    case 'unjudged':
    case 'misconfigured':
    case 'broken':
      return answerLater(answers, deps.random)
  }
}

/** Signed by a key of the sender, so these are late or replayed and not forged. */
const STALE: ReadonlySet<string> = new Set(['timestamp_stale', 'timestamp_in_future', 'delivery_too_old'])

function answerTurnedAway(
  { cause, source }: PushEnd & { kind: 'turned_away' },
  answers: AnswerOverrides,
  random: () => number,
): Answer {
  switch (cause) {
    case 'unknown_source':
      return answerProblem(404)
    case 'wrong_method':
      return {
        status: 405,
        headers: { allow: listMethods(source?.handshakes ?? []).join(', '), 'content-length': 0 },
        body: null,
      }
    case 'encoded_body':
      return answerRefusal(answers.encoded, 415, { 'accept-encoding': 'identity' })
    case 'too_large':
      return answerRefusal(answers.tooLarge, 413)
    case 'overloaded':
    case 'clock_unknown':
    case 'clock_off':
      return answerLater(answers, random)
  }
}

function answerRefusal(
  own: RefusalAnswer | undefined,
  usual: ProblemStatus,
  more?: Readonly<Record<string, string>>,
): Answer {
  return own === undefined ? answerProblem(usual, more) : answerProblem(own.status, { ...more, ...own.headers })
}

/** `nosniff`: a challenge that is echoed must stay a text, whatever it says. */
function answerHandshakeWith(answer: HandshakeAnswer): Answer {
  const body = answer.body === null ? null : Buffer.from(answer.body)
  const length = answer.status === 204 ? {} : { 'content-length': body?.length ?? 0 }
  return { status: answer.status, headers: { 'x-content-type-options': 'nosniff', ...answer.headers, ...length }, body }
}

function answerClaim(source: SourceContract, claim: ClaimResult, deps: Pick<PushDeps, 'random' | 'log'>): Answer {
  if (claim.kind === 'refused') {
    const retryAfter = Math.max(1, Math.ceil(claim.retryAfterMs / 1000))
    return answerProblem(503, { 'retry-after': retryAfter, ...source.answers.unavailable?.headers })
  }
  if (claim.kind !== 'committed') return answerLater(source.answers, deps.random)
  if (source.ack.onConflict === 'refuse_409' && claim.results.some((result) => result.kind === 'conflict')) {
    return answerRefusal(source.answers.conflict, 409)
  }
  return answerSuccess(source, answerOutcome(claim.results), deps.log)
}

/** The first arrival and every repeat get the same words, so a sender can't tell them apart and need not. */
function answerSuccess(source: SourceContract, outcome: string, log: PushDeps['log']): Answer {
  const { status } = source.ack
  if (status === 204) return NO_CONTENT
  if (source.ack.fixedBody !== null) {
    const body = Buffer.from(source.ack.fixedBody.text)
    return {
      status,
      headers: { 'content-type': source.ack.fixedBody.contentType, 'content-length': body.length },
      body,
    }
  }
  const body = makeAckBody(source, outcome, log)
  if (body === null) return { status, headers: { 'content-length': 0 }, body }
  return { status, headers: { 'content-type': 'application/json', 'content-length': body.length }, body }
}

/** The claim is committed, so the owner's function may break the words of the answer but not its status. */
function makeAckBody(source: SourceContract, outcome: string, log: PushDeps['log']): Buffer | null {
  if (source.ack.body === null) return null
  try {
    return Buffer.from(JSON.stringify(source.ack.body(outcome)))
  } catch (error) {
    log.error({ ...describeError(error), source: source.name, outcome }, 'push.ack_body_failed')
    return null
  }
}

function answerLater(answers: AnswerOverrides, random: () => number): Answer {
  const spread = Math.floor(random() * (LONGEST_RETRY_S - SHORTEST_RETRY_S + 1))
  return answerProblem(503, { 'retry-after': SHORTEST_RETRY_S + spread, ...answers.unavailable?.headers })
}
