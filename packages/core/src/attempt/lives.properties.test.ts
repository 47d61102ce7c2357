import { randomInt } from 'node:crypto'
import { expect, test } from 'vitest'
import { freezeAction } from '../intake/freeze-action.js'
import type { AttemptHistory } from '../outbox/entry.js'
import { type ClassifyContract, classify } from './classify.js'
import { decide } from './decide.js'
import type { Decision } from './decision.js'
import { judgeLease, keyWindowEndsAt } from './key-window.js'
import type { AttemptOutcome } from './outcome.js'
import { leaseReturned, workerLost } from './own-outcomes.js'
import type { Sent } from './sent.js'

/** Repeat a run with SEED. */
const SEED = Number(process.env.SEED ?? randomInt(2 ** 31))
const LIVES = 10_000
const MAX_STEPS = 60
const START = Date.UTC(2026, 0, 1)

type Chance = {
  readonly next: () => number
  readonly int: (least: number, most: number) => number
  readonly pick: <T>(items: readonly T[]) => T
}

/** mulberry32: the same sequence for the same seed. */
function createChance(seed: number): Chance {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const int = (least: number, most: number) => least + Math.floor(next() * (most - least + 1))
  return { next, int, pick: (items) => items[int(0, items.length - 1)] as (typeof items)[number] }
}

function makeContract({ int, pick }: Chance): ClassifyContract {
  const key = { lifetimeMs: int(1, 200_000_000), marginMs: int(0, 1_000_000) }
  return {
    idempotency: pick([
      { kind: 'none' },
      { kind: 'upsert' },
      { kind: 'body', pointer: '/key', ...key },
      { kind: 'header', header: 'Idempotency-Key', quoted: false, ...key },
      { kind: 'header', header: 'Idempotency-Key', quoted: true, ...key },
    ] as const),
    retry: {
      firstMs: int(1, 60_000),
      capMs: int(1, 20_000_000),
      maxAttempts: int(1, 20),
      maxAgeMs: int(1, 300_000_000),
      maxRetryAfterMs: int(0, 21_600_000),
    },
    replayMarkers: [{ header: 'Idempotent-Replayed', value: 'true' }],
    matchers: pick([
      [],
      [
        {
          statuses: [412],
          headers: [],
          body: [],
          verdict: { kind: 'rejected', reason: 'refused', decidesEarlier: true },
        },
      ],
      [
        {
          statuses: [[200, 299]],
          headers: [],
          body: [{ pointer: '/ok', test: { kind: 'one_of', values: [false] } }],
          verdict: { kind: 'rejected', reason: 'refused' },
        },
      ],
    ] as const),
  }
}

const STATUSES = [200, 201, 202, 207, 302, 400, 401, 403, 404, 408, 409, 410, 412, 421, 422, 429, 500, 502, 503, 504]
const CODES = ['ECONNREFUSED', 'ENOTFOUND', 'ECONNRESET', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_INVALID_ARG', 'ENEW', '']

/** What the network does to one attempt, now and then what becomes of its worker. */
function meet(chance: Chance, contract: ClassifyContract, now: number): AttemptOutcome {
  const { next, int, pick } = chance
  const fate = next()
  if (fate < 0.05) return workerLost()
  if (fate < 0.1) return leaseReturned()
  if (fate < 0.45) {
    const headersHandedOver = pick([true, false, null])
    const sent: Sent = {
      kind: 'failed',
      code: pick(CODES),
      message: '',
      headersHandedOver,
      step: 'unknown',
      durationMs: 1,
    }
    return classify(sent, contract, now)
  }
  const headers: Record<string, string> = {}
  if (next() < 0.3) {
    headers['retry-after'] = pick([
      String(int(0, 100_000)),
      `${int(0, 999)}.5`,
      `${int(1, 90)}m`,
      'soon',
      new Date(now + int(-1e6, 1e8)).toUTCString(),
    ])
  }
  if (next() < 0.1) headers['x-ratelimit-reset'] = String(int(0, 2e9))
  if (next() < 0.1) headers['idempotent-replayed'] = 'true'
  const body = pick([null, Buffer.from('{"ok":false}'), Buffer.from('{"ok":true}'), Buffer.from('<html>')])
  const status = next() < 0.8 ? pick(STATUSES) : int(100, 599)
  return classify(
    { kind: 'answered', status, headers, body, bodyTruncated: next() < 0.05, durationMs: 1 },
    contract,
    now,
  )
}

type Attempt = {
  readonly at: number
  readonly history: AttemptHistory
  readonly outcome: AttemptOutcome
  readonly decision: Decision
}

/** One step of the rows, as a close writes them. */
function advance(history: AttemptHistory, { at, outcome, decision }: Attempt, isFirstSend: boolean): AttemptHistory {
  const nothingLeft = outcome.kind === 'not_sent' && outcome.status === undefined
  return {
    ...history,
    attempts: history.attempts + 1,
    tries: history.tries + (decision.kind === 'retry' && decision.spendsBudget ? 1 : 0),
    firstSentAt: nothingLeft && isFirstSend ? null : history.firstSentAt,
    uncertainSince: history.uncertainSince ?? (outcome.kind === 'uncertain' ? at : null),
  }
}

function checkAttempt(contract: ClassifyContract, attempt: Attempt): string | null {
  const { at, history, outcome, decision } = attempt
  const wasInDoubt = history.uncertainSince !== null
  const isInDoubt = wasInDoubt || outcome.kind === 'uncertain'
  const windowEndsAt = keyWindowEndsAt(history, contract, at) ?? Number.NEGATIVE_INFINITY
  if (wasInDoubt && at >= windowEndsAt) return 'a doubtful send was repeated outside of its window'
  const waits = decision.kind === 'retry' || decision.kind === 'pause'
  if (waits && !(decision.dueInMs >= 0 && Number.isFinite(decision.dueInMs))) return 'waits without an end'
  if (decision.kind === 'retry' && isInDoubt && at + decision.dueInMs >= windowEndsAt) {
    return 'a retry was decided for a time outside of the window'
  }
  if (decision.kind === 'dead_letter' && isInDoubt && !(outcome.kind === 'rejected' && outcome.decidesEarlier)) {
    return 'doubt was given up as a dead letter'
  }
  if (decision.kind === 'finish' && outcome.kind !== 'accepted') return 'delivered without a yes'
  if (decision.kind === 'hold' && !isInDoubt) return 'uncertain was made of an entry without doubt'
  if (history.tries >= contract.retry.maxAttempts) return 'more tries than the budget'
  const notBefore = 'notBefore' in outcome ? outcome.notBefore : null
  if (!waits || notBefore === null) return null
  const wishMs = notBefore - at
  if (wishMs < 0 || wishMs > contract.retry.maxRetryAfterMs) return 'a wish outside of its bounds'
  // The one way to come earlier than asked: a last try before the key is forgotten.
  const leastMs = decision.kind === 'pause' ? wishMs : Math.min(wishMs, windowEndsAt - at - 5_000)
  if (decision.dueInMs < Math.floor(leastMs)) return 'came back before it was asked to'
  if (decision.kind === 'pause' && decision.pauseMs !== null && decision.pauseMs < wishMs) return 'too short a pause'
  return decision.dueInMs > Math.max(contract.retry.capMs, wishMs + 5_000) ? 'waits longer than its bounds' : null
}

function freezeOnce(text: string, contract: ClassifyContract) {
  const pointer = contract.idempotency.kind === 'body' ? contract.idempotency.pointer : null
  const keyRule = { maxLength: 45, form: 'text', pointer } as const
  return freezeAction({ destination: 'd', idempotencyKey: text, body: { a: 1 }, keyRule }, () => 'id')
}

/** Plays one entry's life as the worker does; pauses and stopped workers make it late, now and then by days. */
function live(chance: Chance): { readonly problem: string | null; readonly end: Decision['kind'] | 'still_pending' } {
  const contract = makeContract(chance)
  const text = `order:${chance.int(0, 9)}:${'x'.repeat(chance.int(0, 60))}`
  const frozen = freezeOnce(text, contract)
  let now = START
  let history: AttemptHistory = { attempts: 0, tries: 0, firstSentAt: null, uncertainSince: null, createdAt: START }
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const isFirstSend = history.firstSentAt === null
    history = { ...history, firstSentAt: history.firstSentAt ?? now }
    const judged = judgeLease(history, contract, now)
    if (judged.kind === 'hold')
      return { problem: history.uncertainSince === null ? 'held without doubt' : null, end: 'hold' }
    const outcome = meet(chance, contract, now)
    const decision = decide(outcome, history, contract, now, chance.next)
    const attempt = { at: now, history, outcome, decision }
    const again = freezeOnce(text, contract)
    const isSame = again.idempotencyKey === frozen.idempotencyKey && again.body.equals(frozen.body)
    const problem = isSame ? checkAttempt(contract, attempt) : 'the key or the bytes changed'
    if (problem !== null) return { problem: `${problem}: ${JSON.stringify({ contract, attempt })}`, end: decision.kind }
    if (decision.kind !== 'retry' && decision.kind !== 'pause') return { problem: null, end: decision.kind }
    history = advance(history, attempt, isFirstSend)
    now += decision.dueInMs + (chance.next() < 0.1 ? chance.int(0, 200_000_000) : chance.int(0, 2_000))
  }
  return { problem: null, end: 'still_pending' }
}

test(`I3, I6, I12: ten thousand random lives keep key, window, budget and doubt (seed ${SEED})`, () => {
  const ends = new Map<string, number>()
  for (let number = 0; number < LIVES; number += 1) {
    const { problem, end } = live(createChance(SEED + number))
    if (problem !== null) expect.fail(`life ${number} of seed ${SEED}: ${problem}`)
    ends.set(end, (ends.get(end) ?? 0) + 1)
  }
  // Every end is met, else the lives show little; nearly all of them do end.
  for (const end of ['finish', 'hold', 'dead_letter']) expect(ends.get(end) ?? 0, end).toBeGreaterThan(LIVES / 100)
  expect(ends.get('still_pending') ?? 0).toBeLessThan(LIVES / 100)
})
