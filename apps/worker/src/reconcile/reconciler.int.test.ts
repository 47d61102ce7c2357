import { type DestinationContract, judgeDelivery, type LookupContract, SWEEP_SOURCE } from '@counterfoil/core'
import { checkPlacement, type Database, openDatabase, readTimeline, settleEntry } from '@counterfoil/db'
import { freshDatabase, type ManagedProcess, type TestDatabase, until } from '@counterfoil/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { RunningWorker } from '../start-worker.js'
import { makeContract } from '../testing/make-entry.js'
import { countStates, query, readAttempts, seedEntries } from '../testing/seed-entries.js'
import {
  type ActionScript,
  type PeerOptions,
  type RecordingPeer,
  startRecordingPeer,
  WORKS,
} from '../testing/start-recording-peer.js'
import { spawnTestWorker, startTestWorker } from '../testing/start-test-worker.js'

let testDatabase: TestDatabase
let database: Database
let peer: RecordingPeer | undefined
const workers: RunningWorker[] = []
const processes: ManagedProcess[] = []

beforeEach(async () => {
  testDatabase = await freshDatabase()
  database = openDatabase({
    url: testDatabase.url,
    max: 4,
    applicationName: 'person',
    role: null,
    statementTimeoutMs: 10_000,
    connectTimeoutMs: 5_000,
  })
})
afterEach(async () => {
  await Promise.all([...workers.splice(0).map((one) => one.stop()), ...processes.splice(0).map((one) => one.kill9())])
  await peer?.close()
  await database.close()
  await testDatabase.drop()
})

const TOTAL_MS = 300
const LOOKUP: LookupContract = {
  method: 'GET',
  target: '/actions?key={key}',
  body: null,
  rules: [
    {
      statuses: [[200, 200]],
      pointer: '/actions/0/key',
      test: { kind: 'equals', value: '{key}' },
      finding: 'took_effect',
    },
    { statuses: [[200, 200]], pointer: '/actions', test: { kind: 'empty' }, finding: 'did_not' },
  ],
  graceMs: 0,
  firstMs: 100,
  capMs: 200,
  maxProbes: 5,
  concurrency: 2,
  didNot: 'resend',
}

type Setup = Partial<PeerOptions> & {
  readonly lookup?: Partial<LookupContract> | null
  readonly contract?: Partial<DestinationContract>
}

/** The peer, and the contract of a destination that honours keys exactly when the peer does. */
async function open({ lookup = {}, contract = {}, ...options }: Setup): Promise<DestinationContract> {
  peer = await startRecordingPeer({ honourKeys: false, script: () => WORKS, ...options })
  return makeContract({
    url: peer.url,
    headers: { authorization: 'Bearer demo' },
    timeouts: { connectMs: 200, headersMs: 250, bodyMs: 250, totalMs: TOTAL_MS },
    retry: { firstMs: 100, capMs: 500, maxAttempts: 5, maxAgeMs: 3_600_000, maxRetryAfterMs: 60_000 },
    reviewWindowMs: 3_600_000,
    ...(options.honourKeys === true ? {} : { idempotency: { kind: 'none' } }),
    ...(lookup === null ? {} : { lookup: { ...LOOKUP, ...lookup } }),
    ...contract,
  })
}

async function start(contract: DestinationContract) {
  const worker = await startTestWorker({
    databaseUrl: testDatabase.url,
    destinations: [contract],
    settings: { pollMs: 200 },
  })
  workers.push(worker)
  return worker
}

/** One entry with the delivery that asked for it. */
async function seedOne(): Promise<string> {
  await seedEntries(testDatabase.url, 'crm', 1)
  const [entry] = await query<{ id: string; delivery: string }>(
    testDatabase.url,
    `INSERT INTO counterfoil.delivery (id, source, delivery_id, identity_digest, event_type, disposition)
     SELECT delivery, '${SWEEP_SOURCE}', 'd-1', sha256('d-1'), 'ticket.reply', 'act' FROM counterfoil.entry
     RETURNING (SELECT id FROM counterfoil.entry) AS id, id AS delivery`,
  )
  return entry?.id ?? ''
}

async function verdict() {
  const [row] = await query<{ id: string }>(testDatabase.url, 'SELECT id FROM counterfoil.delivery')
  const timeline = await readTimeline(database, row?.id ?? '')
  if (timeline === null) throw new Error('there is no delivery')
  return judgeDelivery(timeline).headline
}

const untilStates = (states: Record<string, number>) =>
  until(async () => JSON.stringify(await countStates(testDatabase.url)) === JSON.stringify(states), {
    timeoutMs: 20_000,
    what: JSON.stringify(states),
  })

const findings = () =>
  query<{ number: number; asked_by: string; finding: string | null; cause: string | null; effect: string | null }>(
    testDatabase.url,
    `SELECT l.number, l.asked_by, f.finding, f.cause, f.effect FROM counterfoil.lookup l
     LEFT JOIN counterfoil.finding f ON f.entry = l.entry AND f.number = l.number ORDER BY l.asked_at`,
  )

const openDoubts = () => query(testDatabase.url, 'SELECT * FROM counterfoil.reconciliation')

/** Long enough for two more looks of every service, and for many first retries. */
const waitForMore = () => new Promise((resolve) => setTimeout(resolve, 4_500))

const FAULTS: readonly (readonly [string, ActionScript['ends']])[] = [
  ['drops the connection', { kind: 'drop' }],
  ['answers after the time-out', { kind: 'answer', status: 200, delayMs: TOTAL_MS * 2 }],
  ['answers 500', { kind: 'answer', status: 500 }],
  ['answers 502', { kind: 'answer', status: 502 }],
]

describe.each(FAULTS)('a destination that acts and then %s', (_what, ends) => {
  const script = (arrival: number): ActionScript => (arrival === 1 ? { apply: true, ends } : WORKS)

  test('I3: with a key it acts once, and the repeat is ignored', async () => {
    const contract = await open({ honourKeys: true, script })
    await seedOne()
    await start(contract)
    await untilStates({ delivered: 1 })
    expect(peer?.effects()).toEqual(['key-1'])
    expect(peer?.actions()).toHaveLength(2)
    expect(peer?.questions()).toEqual([])
    expect(await verdict()).toMatchObject({ kind: 'delivered_repeat_ignored' })
  })

  test('I6: without a key it gets exactly one request, and what it says when asked ends the doubt', async () => {
    const contract = await open({ script, lookup: { graceMs: 1_500 } })
    const entry = await seedOne()
    await start(contract)
    await untilStates({ uncertain: 1 })
    expect(await verdict()).toMatchObject({ kind: 'unknown' })
    await untilStates({ delivered: 1 })
    expect(peer?.actions(), 'sent once').toEqual(['key-1'])
    expect(peer?.effects()).toEqual(['key-1'])
    expect(peer?.questions(), 'asked with our credentials').toEqual([{ key: 'key-1', authorization: 'Bearer demo' }])
    expect(await findings()).toMatchObject([{ number: 1, finding: 'took_effect', effect: 'delivered' }])
    expect(await verdict()).toMatchObject({ kind: 'delivered_once', label: 'Delivered once (found by asking)' })
    expect(await openDoubts()).toEqual([])
    expect(entry).not.toBe('')
  })
})

describe('the reconciler', () => {
  const lostBefore = (arrival: number): ActionScript =>
    arrival === 1 ? { apply: false, ends: { kind: 'drop' } } : WORKS

  test('I6: sends again, under the same key and once, what provably had no effect', async () => {
    const contract = await open({ script: lostBefore })
    await seedOne()
    await start(contract)
    await untilStates({ delivered: 1 })
    expect(peer?.actions()).toEqual(['key-1', 'key-1'])
    expect(peer?.effects()).toEqual(['key-1'])
    expect(await findings()).toMatchObject([{ finding: 'did_not', effect: 'returned' }])
    expect(await readAttempts(testDatabase.url, 'key-1')).toMatchObject([
      { number: 1, outcome: 'uncertain', decision: 'hold' },
      { number: 2, outcome: 'accepted', decision: 'finish' },
    ])
    const { kind, sentence } = await verdict()
    expect(kind).toBe('delivered_once')
    expect(sentence).toContain('Of attempt 1 it had said, asked, that it did not act.')
    expect(await checkPlacement(database), 'I12').toEqual([])
  })

  test('leaves what had no effect to a person where the contract says so', async () => {
    const contract = await open({ script: lostBefore, lookup: { didNot: 'review' } })
    await seedOne()
    await start(contract)
    await untilStates({ dead_lettered: 1 })
    expect(peer?.actions()).toEqual(['key-1'])
    expect(await verdict()).toMatchObject({
      kind: 'not_delivered',
      advice: { name: 'redrive', redrive: { safe: true } },
    })
  })

  test('I6: when the key no longer protects a repeat, nothing is sent again by itself', async () => {
    const idempotency = {
      kind: 'header',
      header: 'Idempotency-Key',
      quoted: false,
      lifetimeMs: 1_000,
      marginMs: 999,
    } as const
    const drop = { apply: true, ends: { kind: 'drop' } } as const
    const contract = await open({
      honourKeys: true,
      script: () => drop,
      lookup: null,
      contract: { idempotency, reviewWindowMs: 500 },
    })
    const entry = await seedOne()
    await start(contract)
    await untilStates({ uncertain: 1 })
    await waitForMore()
    expect(await countStates(testDatabase.url)).toEqual({ uncertain: 1 })
    expect(peer?.actions()).toEqual(['key-1'])
    expect(await openDoubts()).toMatchObject([{ entry, next_at: null, probes: 0 }])
    expect((await verdict()).sentence).toMatch(/no longer protects a repeat\. It is overdue since/)
  })

  test('asks ever again while it is unknown, not more often than allowed, and then waits for a person', async () => {
    const drop = { apply: true, ends: { kind: 'drop' } } as const
    const contract = await open({ script: () => drop, answerWith: () => 404, lookup: { maxProbes: 3 } })
    await seedOne()
    await start(contract)
    await until(async () => (await findings()).at(-1)?.effect === 'waits_for_person', { timeoutMs: 20_000 })
    await waitForMore()
    expect((await findings()).map(({ effect }) => effect)).toEqual(['asked_again', 'asked_again', 'waits_for_person'])
    expect(peer?.questions()).toHaveLength(3)
    expect(await countStates(testDatabase.url)).toEqual({ uncertain: 1 })
    expect((await verdict()).sentence).toContain('It is overdue since')
  })

  test('never asks more at a time than the contract allows, with two workers and many doubts', async () => {
    const drop = { apply: true, ends: { kind: 'drop' } } as const
    const slow = () => new Promise<void>((resolve) => setTimeout(resolve, 100))
    const contract = await open({ script: () => drop, beforeAnswer: slow })
    await seedEntries(testDatabase.url, 'crm', 8)
    await Promise.all([start(contract), start(contract)])
    await untilStates({ delivered: 8 })
    expect(peer?.questions()).toHaveLength(8)
    expect(peer?.mostOpen().overall).toBeLessThanOrEqual(2)
    expect(peer?.mostOpen().ofOneKey).toBe(1)
  })

  test('asks again when whoever asked was killed before the answer, and keeps the evidence of both', async () => {
    const drop = { apply: true, ends: { kind: 'drop' } } as const
    const contract = await open({
      script: () => drop,
      beforeAnswer: (question) => (question === 1 ? null : Promise.resolve()),
      contract: { timeouts: { connectMs: 5_000, headersMs: 60_000, bodyMs: 60_000, totalMs: 60_000 }, leaseMs: 90_000 },
      // Less than nothing on top of the time-out: asked about at once.
      lookup: { graceMs: -60_000 },
    })
    await seedOne()
    const first = await spawnTestWorker({ databaseUrl: testDatabase.url, destinations: [contract] })
    processes.push(first)
    await until(() => peer?.questions().length === 1, { timeoutMs: 20_000 })
    await first.kill9()
    expect(await findings()).toEqual([
      { number: 1, asked_by: first.instance, finding: null, cause: null, effect: null },
    ])
    await start(contract)
    await waitForMore()
    expect(peer?.questions(), 'its lease is respected').toHaveLength(1)
    await query(
      testDatabase.url,
      `UPDATE counterfoil.reconciliation SET leased_until = clock_timestamp() - interval '1 second'`,
    )
    await untilStates({ delivered: 1 })
    expect(await findings()).toMatchObject([
      { number: 1, finding: null },
      { number: 2, finding: 'took_effect', effect: 'delivered' },
    ])
  })

  test('I5, I6: a person who settles while it is asked about wins, and the finding is kept as evidence', async () => {
    const drop = { apply: true, ends: { kind: 'drop' } } as const
    let answer = (): void => {}
    const held = new Promise<void>((resolve) => {
      answer = resolve
    })
    const contract = await open({
      script: () => drop,
      beforeAnswer: () => held,
      contract: { timeouts: { connectMs: 500, headersMs: 10_000, bodyMs: 10_000, totalMs: 10_000 }, leaseMs: 30_000 },
      lookup: { graceMs: -10_000 },
    })
    const entry = await seedOne()
    await start(contract)
    await until(() => peer?.questions().length === 1, { timeoutMs: 20_000 })
    const settled = await settleEntry(database, entry, {
      actor: 'ana',
      reason: 'asked CRM support',
      as: 'not_delivered',
      evidence: 'call 17',
      seenAttempt: 1,
    })
    expect(settled).toMatchObject({ kind: 'settled' })
    answer()
    await until(async () => (await findings())[0]?.finding === 'took_effect', { timeoutMs: 20_000 })
    expect(await findings()).toMatchObject([{ finding: 'took_effect', effect: 'kept', cause: 'moved_meanwhile' }])
    expect(await countStates(testDatabase.url)).toEqual({ settled: 1 })
    expect(await openDoubts()).toEqual([])
  })

  test('asks nothing of a destination that is paused', async () => {
    const drop = { apply: true, ends: { kind: 'drop' } } as const
    const contract = await open({ script: () => drop, lookup: { graceMs: 1_500 } })
    await seedOne()
    await start(contract)
    await untilStates({ uncertain: 1 })
    await query(
      testDatabase.url,
      `INSERT INTO counterfoil.destination_state (destination, paused_reason, paused_at)
       VALUES ('crm', 'operator', clock_timestamp())
       ON CONFLICT (destination) DO UPDATE SET paused_reason = 'operator', paused_at = clock_timestamp()`,
    )
    await waitForMore()
    expect(peer?.questions()).toEqual([])
    await query(
      testDatabase.url,
      `UPDATE counterfoil.destination_state SET paused_reason = NULL, paused_at = NULL WHERE destination = 'crm'`,
    )
    await untilStates({ delivered: 1 })
  })

  test('ends its open questions when it stops, and says so on record', async () => {
    const drop = { apply: true, ends: { kind: 'drop' } } as const
    const contract = await open({
      script: () => drop,
      beforeAnswer: () => null,
      contract: { timeouts: { connectMs: 500, headersMs: 20_000, bodyMs: 20_000, totalMs: 20_000 }, leaseMs: 60_000 },
      lookup: { graceMs: -20_000 },
    })
    await seedOne()
    const worker = await start(contract)
    await until(() => peer?.questions().length === 1, { timeoutMs: 20_000 })
    await worker.stop()
    workers.splice(0)
    expect(await findings()).toMatchObject([
      { finding: 'still_unknown', cause: 'ERR_COUNTERFOIL_STOPPING', effect: 'asked_again' },
    ])
  })
})
