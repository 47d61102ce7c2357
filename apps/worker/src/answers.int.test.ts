import type { AnswerMatcher, DestinationContract } from '@counterfoil/core'
import { freshDatabase, type Sink, type SinkBehaviour, startSink, type TestDatabase, until } from '@counterfoil/testkit'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { RunningWorker } from './start-worker.js'
import { makeContract } from './testing/make-entry.js'
import { countStates, query, readAttempts, seedEntries } from './testing/seed-entries.js'
import { startTestWorker } from './testing/start-test-worker.js'

let sink: Sink
let database: TestDatabase
let worker: RunningWorker | null = null

beforeAll(async () => {
  sink = await startSink()
})
afterAll(() => sink.kill())
beforeEach(async () => {
  database = await freshDatabase()
  await sink.clear()
})
afterEach(async () => {
  await worker?.stop()
  await database.drop()
})

const matcher = (given: Partial<AnswerMatcher>): AnswerMatcher => ({
  statuses: [],
  headers: [],
  body: [],
  verdict: { kind: 'rejected', reason: 'refused' },
  ...given,
})

/** One entry, sent to a destination that answers so, until it ends in this state. */
async function deliver(state: string, answers: readonly SinkBehaviour[], over: Partial<DestinationContract>) {
  const [first, ...others] = answers
  if (first === undefined) throw new Error('no answer')
  const rules = others.length === 0 ? [] : [{ to: 1, behaviour: first }]
  await sink.script({ rules, otherwise: others[0] ?? first })
  await seedEntries(database.url, 'crm', 1)
  const retry = { firstMs: 50, capMs: 200, maxAttempts: 8, maxAgeMs: 3_600_000, maxRetryAfterMs: 60_000 }
  const contract = makeContract({ url: sink.url('/crm'), retry, ...over })
  worker = await startTestWorker({ databaseUrl: database.url, destinations: [contract] })
  await until(async () => (await countStates(database.url))[state] === 1, { what: state })
  const [entry] = await query(database.url, 'SELECT reason, uncertain_since FROM counterfoil.entry')
  return { entry, attempts: await readAttempts(database.url, 'key-1') }
}

const answer = (status: number, more: Partial<Extract<SinkBehaviour, { kind: 'answer' }>> = {}): SinkBehaviour => ({
  kind: 'answer',
  status,
  ...more,
})

test('a success that says no in its body is a dead letter where a matcher reads it', async () => {
  const body = [{ pointer: '/ok', test: { kind: 'one_of', values: [false] } }] as const
  const told = await deliver('dead_lettered', [answer(200, { body: '{"ok":false}', apply: false })], {
    matchers: [matcher({ statuses: [200], body })],
  })
  expect(told.entry).toMatchObject({ reason: 'rejected' })
  expect(told.attempts).toMatchObject([{ outcome: 'rejected', status: 200, decision: 'dead_letter' }])
})

test('I6: a refusal after a lost answer stays uncertain', async () => {
  const told = await deliver('uncertain', [{ kind: 'drop', apply: true }, answer(412)], {})
  expect(told.entry).toMatchObject({ reason: 'rejected_after_doubt' })
  expect(told.attempts).toMatchObject([{ outcome: 'uncertain' }, { outcome: 'rejected', decision: 'hold' }])
})

test('the same refusal ends the doubt where a matcher knows that it decides the earlier attempt', async () => {
  const forAll = matcher({ statuses: [412], verdict: { kind: 'rejected', reason: 'refused', decidesEarlier: true } })
  const told = await deliver('dead_lettered', [{ kind: 'drop', apply: false }, answer(412)], { matchers: [forAll] })
  expect(told.entry).toEqual({ reason: 'rejected_for_all', uncertain_since: null })
})

test('I6: a failure replayed from memory is held after one request', async () => {
  const headers = { 'idempotent-replayed': 'true' }
  const told = await deliver('uncertain', [answer(500, { headers })], {})
  expect(told.entry).toMatchObject({ reason: 'retry_tells_nothing' })
  expect(await sink.summary()).toMatchObject({ requests: 1 })
})

test('an upsert is repeated after a lost answer, and each attempt tells its key', async () => {
  const told = await deliver('delivered', [{ kind: 'drop', apply: true }, answer(200)], {
    idempotency: { kind: 'upsert' },
  })
  expect(told.attempts).toMatchObject([
    { outcome: 'uncertain', key_sent: 'key-1' },
    { outcome: 'accepted', key_sent: 'key-1' },
  ])
})
