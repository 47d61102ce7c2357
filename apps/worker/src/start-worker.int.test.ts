import type { DestinationContract } from '@counterfoil/core'
import { checkPlacement, migrateUp, openDatabase, releaseDestination } from '@counterfoil/db'
import {
  endsWithReadyForQuery,
  freshDatabase,
  hasRedisServer,
  type ManagedProcess,
  mentions,
  type Sink,
  startPostgres,
  startRedis,
  startSink,
  startTcpProxy,
  type TestDatabase,
  until,
} from '@counterfoil/testkit'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { RunningWorker } from './start-worker.js'
import { makeContract } from './testing/make-entry.js'
import { countStates, query, readAttempts, seedEntries } from './testing/seed-entries.js'
import { spawnTestWorker, startTestWorker, type TestWorkerOptions } from './testing/start-test-worker.js'

let sink: Sink
let database: TestDatabase
const workers: RunningWorker[] = []
const processes: ManagedProcess[] = []

beforeAll(async () => {
  sink = await startSink()
})
afterAll(() => sink.kill())
beforeEach(async () => {
  database = await freshDatabase()
  await sink.clear()
  await sink.setDoor('open')
  await sink.script({})
})
afterEach(async () => {
  await Promise.all([
    ...workers.splice(0).map((worker) => worker.stop()),
    ...processes.splice(0).map((one) => one.kill9()),
  ])
  await database.drop()
})

function makeCrm(over: Partial<DestinationContract> = {}): DestinationContract {
  const retry = { firstMs: 100, capMs: 500, maxAttempts: 8, maxAgeMs: 3_600_000, maxRetryAfterMs: 60_000 }
  return makeContract({ url: sink.url('/crm'), concurrency: 16, retry, ...over })
}

async function start(options: Partial<TestWorkerOptions> = {}) {
  const worker = await startTestWorker({ databaseUrl: database.url, destinations: [makeCrm()], ...options })
  workers.push(worker)
  return worker
}

async function spawn(options: Partial<TestWorkerOptions> = {}) {
  const worker = await spawnTestWorker({ databaseUrl: database.url, destinations: [makeCrm()], ...options })
  processes.push(worker)
  return worker
}

const untilStates = (states: Record<string, number>, timeoutMs = 20_000) =>
  until(async () => JSON.stringify(await countStates(database.url)) === JSON.stringify(states), {
    timeoutMs,
    what: JSON.stringify(states),
  })

/** The oracles that hold whenever the system is quiet, whatever happened before. */
async function expectTruthful(): Promise<void> {
  const db = openDatabase({
    url: database.url,
    max: 1,
    applicationName: 'oracle',
    role: null,
    statementTimeoutMs: 0,
    connectTimeoutMs: 2_000,
  })
  expect(await checkPlacement(db), 'I12: each pending entry is in exactly one place').toEqual([])
  await db.close()
  const gaps = await query(
    database.url,
    `SELECT entry FROM counterfoil.attempt GROUP BY entry HAVING count(*) <> max(number)`,
  )
  expect(gaps, 'attempts are numbered 1 to n').toEqual([])
  const keys = new Map(
    (
      await query<{ idempotency_key: string; digest: string }>(
        database.url,
        `SELECT idempotency_key, encode(body_digest, 'hex') AS digest FROM counterfoil.entry`,
      )
    ).map((row) => [row.idempotency_key, row.digest]),
  )
  for (const request of await sink.requests()) {
    if (request.key === null || request.bodyDigest === null) continue
    expect(keys.get(request.key), 'I3: every request carries the key and the bytes of an entry').toBe(
      request.bodyDigest,
    )
  }
  expect((await sink.summary()).repeatedEffects).toBe(0)
}

describe('a worker', () => {
  test('delivers a backlog, each entry once, and leaves an attempt for each request', async () => {
    await seedEntries(database.url, 'crm', 500)
    await start()
    await untilStates({ delivered: 500 })
    expect(await sink.summary()).toMatchObject({ requests: 500, effects: 500 })
    const attempts = await readAttempts(database.url, 'key-7')
    expect(attempts).toMatchObject([
      { number: 1, outcome: 'accepted', status: 200, decision: 'finish', key_sent: 'key-7' },
    ])
    const seven = (await sink.requests()).find(({ key }) => key === 'key-7')
    expect(attempts[0]?.digest_sent).toBe(seven?.bodyDigest)
    await expectTruthful()
  })

  test('finds entries by its poll alone', async () => {
    await start({ settings: { pollMs: 200 } })
    await seedEntries(database.url, 'crm', 1)
    await untilStates({ delivered: 1 }, 2_000)
  })

  test('I3: a retry after a lost answer keeps key and bytes, and ends as "it knew the key"', async () => {
    await sink.script({ rules: [{ to: 1, behaviour: { kind: 'drop', apply: true } }] })
    await seedEntries(database.url, 'crm', 1)
    await start()
    await untilStates({ delivered: 1 })
    const attempts = await readAttempts(database.url, 'key-1')
    expect(attempts).toMatchObject([
      { outcome: 'uncertain', decision: 'retry', key_sent: 'key-1' },
      { outcome: 'accepted', decision: 'finish', key_sent: 'key-1' },
    ])
    expect(attempts[0]?.digest_sent).toBe(attempts[1]?.digest_sent)
    expect(await query(database.url, 'SELECT repeat FROM counterfoil.entry')).toEqual([{ repeat: true }])
    expect(await sink.summary()).toMatchObject({ requests: 2, effects: 1 })
    await expectTruthful()
  })

  test('I6: without a key a time-out ends as uncertain after exactly one request', async () => {
    await sink.script({ otherwise: { kind: 'hang', apply: true } })
    await seedEntries(database.url, 'crm', 1)
    await start({ destinations: [makeCrm({ idempotency: { kind: 'none' } })] })
    await untilStates({ uncertain: 1 })
    // Long enough for two more looks and several first retries.
    await new Promise((resolve) => setTimeout(resolve, 1_200))
    expect(await sink.summary()).toMatchObject({ requests: 1 })
    expect(await readAttempts(database.url, 'key-1')).toMatchObject([
      { outcome: 'uncertain', decision: 'hold', key_sent: null },
    ])
  })

  test('a refused connection spends tries, never doubt, and is delivered when the door opens', async () => {
    await sink.setDoor('refuse')
    await seedEntries(database.url, 'crm', 3)
    await start()
    await until(async () => (await readAttempts(database.url, 'key-1')).length >= 2)
    await sink.setDoor('open')
    await untilStates({ delivered: 3 })
    const outcomes = (await readAttempts(database.url, 'key-1')).map(({ outcome }) => outcome)
    expect(outcomes.at(-1)).toBe('accepted')
    expect(new Set(outcomes.slice(0, -1))).toEqual(new Set(['not_sent']))
    await expectTruthful()
  })

  test('a destination that sheds load is paused as long as it asked, then probed with one entry', async () => {
    const shed = { kind: 'answer', status: 503, headers: { 'retry-after': '2' } } as const
    await sink.script({ rules: [{ to: 4, behaviour: shed }] })
    await seedEntries(database.url, 'crm', 40)
    const worker = await start({ destinations: [makeCrm({ concurrency: 4 })] })
    await until(() => worker.lines.some(({ msg }) => msg === 'destination.paused'))
    await untilStates({ delivered: 40 })
    const requests = await sink.requests()
    const [shedding, rest] = [requests.slice(0, 4), requests.slice(4)]
    const pausedMs =
      Math.min(...rest.map(({ receivedAt }) => receivedAt)) - Math.max(...shedding.map(({ receivedAt }) => receivedAt))
    expect(pausedMs).toBeGreaterThan(1_700)
    expect(pausedMs).toBeLessThan(4_500)
    expect(worker.lines.filter(({ msg }) => msg === 'destination.paused').length).toBe(1)
    const tries = await query(database.url, 'SELECT DISTINCT tries FROM counterfoil.entry')
    expect(tries).toEqual([{ tries: 1 }])
    await expectTruthful()
  })

  test('refused credentials pause the destination until somebody mends them; no entry loses a try', async () => {
    await sink.script({ otherwise: { kind: 'answer', status: 401 } })
    await seedEntries(database.url, 'crm', 20)
    await start({ destinations: [makeCrm({ concurrency: 2 })] })
    await until(async () => (await sink.summary()).requests >= 2)
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    expect((await sink.summary()).requests).toBe(2)
    await sink.script({})
    const db = openDatabase({
      url: database.url,
      max: 1,
      applicationName: 'person',
      role: null,
      statementTimeoutMs: 0,
      connectTimeoutMs: 2_000,
    })
    expect(await releaseDestination(db, 'crm', { actor: 'ana', reason: 'the destination is back' })).toMatchObject({
      kind: 'resumed',
    })
    await db.close()
    await untilStates({ delivered: 20 })
    await expectTruthful()
  })

  test('a hanging destination holds only its own slots', async () => {
    await sink.script({ rules: [{ path: '/slow', behaviour: { kind: 'hang', apply: false } }] })
    await seedEntries(database.url, 'slow', 50, 'slow')
    await seedEntries(database.url, 'crm', 300)
    await start({
      destinations: [
        makeCrm(),
        makeCrm({
          name: 'slow',
          url: sink.url('/slow'),
          concurrency: 4,
          timeouts: { connectMs: 1_000, headersMs: 4_000, bodyMs: 1_000, totalMs: 5_000 },
        }),
      ],
    })
    await until(async () => (await sink.effects()).filter(({ path }) => path === '/crm').length === 300, {
      timeoutMs: 3_500,
    })
  })
})

describe('several workers', () => {
  test('share one backlog; one is killed, the others go on at once, and nothing goes out under a second key', async () => {
    await sink.script({ otherwise: { kind: 'answer', status: 200, delayMs: 20 } })
    const crm = makeCrm({
      concurrency: 8,
      leaseMs: 4_000,
      timeouts: { connectMs: 500, headersMs: 1_000, bodyMs: 500, totalMs: 1_500 },
    })
    const [first, second] = await Promise.all([spawn({ destinations: [crm] }), spawn({ destinations: [crm] })])
    await seedEntries(database.url, 'crm', 1_500)
    await until(async () => (await sink.summary()).requests > 400)
    await first.kill9()
    const killedAt = Date.now()
    const seen = (await sink.summary()).requests
    await until(async () => (await sink.summary()).requests > seen + 50, { timeoutMs: 1_000 })
    expect(Date.now() - killedAt).toBeLessThan(1_000)
    await untilStates({ delivered: 1_500 }, 20_000)
    const shares = await query<{ worker: string; n: number }>(
      database.url,
      'SELECT worker, count(*)::int AS n FROM counterfoil.attempt GROUP BY 1',
    )
    for (const { instance } of [first, second])
      expect(shares.find(({ worker }) => worker === instance)?.n ?? 0).toBeGreaterThan(100)
    const lost = await query<{ n: number }>(
      database.url,
      `SELECT count(*)::int AS n FROM counterfoil.attempt WHERE cause = 'worker_lost' OR outcome = 'uncertain'`,
    )
    expect(lost[0]?.n).toBeGreaterThan(0)
    expect((await sink.summary()).effects).toBe(1_500)
    await expectTruthful()
  })

  test('one that sleeps past its leases sends nothing when it wakes, and its late outcomes are kept', async () => {
    await sink.script({ otherwise: { kind: 'answer', status: 200, delayMs: 300 } })
    const crm = makeCrm({
      concurrency: 8,
      leaseMs: 3_000,
      timeouts: { connectMs: 300, headersMs: 600, bodyMs: 300, totalMs: 900 },
    })
    const sleeper = await spawn({ destinations: [crm] })
    await seedEntries(database.url, 'crm', 200)
    await until(async () => (await sink.summary()).requests > 20)
    sleeper.pause()
    await spawn({ destinations: [crm] })
    await untilStates({ delivered: 200 }, 30_000)
    sleeper.resume()
    // It has woken when its health answers its outcomes: each of its open attempts is closed or kept as late.
    await until(async () => (await query(database.url, 'SELECT FROM counterfoil.late_outcome')).length > 0, {
      timeoutMs: 10_000,
    })
    expect((await sink.summary()).effects).toBe(200)
    await expectTruthful()
  })
})

describe('a stop', () => {
  test('lets a slow request finish and records it', async () => {
    await sink.script({ otherwise: { kind: 'answer', status: 200, delayMs: 800 } })
    await seedEntries(database.url, 'crm', 40)
    const worker = await start({
      destinations: [
        makeCrm({ concurrency: 8, timeouts: { connectMs: 500, headersMs: 2_000, bodyMs: 500, totalMs: 2_500 } }),
      ],
    })
    await until(async () => (await sink.summary()).requests > 0)
    await worker.stop()
    const { requests } = await sink.summary()
    expect(requests).toBeLessThan(40)
    expect(await countStates(database.url)).toEqual({ delivered: requests, pending: 40 - requests })
    await expectTruthful()
    expect(await query(database.url, 'SELECT FROM counterfoil.lease')).toEqual([])
  })

  test('gives up on one that hangs: recorded as uncertain, within the grace', async () => {
    await sink.script({ otherwise: { kind: 'hang', apply: false } })
    await seedEntries(database.url, 'crm', 1)
    const timeouts = { connectMs: 500, headersMs: 30_000, bodyMs: 500, totalMs: 31_000 }
    const worker = await start({ destinations: [makeCrm({ timeouts, leaseMs: 60_000 })], settings: { graceMs: 2_000 } })
    await until(async () => (await sink.summary()).requests === 1)
    const from = performance.now()
    await worker.stop()
    expect(performance.now() - from).toBeLessThan(2_200)
    expect(await readAttempts(database.url, 'key-1')).toMatchObject([{ outcome: 'uncertain', decision: 'retry' }])
  })

  test('is bounded also when the database is silent, and Redis was never there', async () => {
    const server = await startPostgres({ settings: { fsync: 'off' } })
    await migrate(server.url())
    const worker = await startTestWorker({
      databaseUrl: server.url(),
      destinations: [makeCrm()],
      settings: { graceMs: 1_500, redisUrl: 'redis://127.0.0.1:1' },
    })
    server.pause()
    const from = performance.now()
    await worker.stop()
    expect(performance.now() - from).toBeLessThan(2_500)
    await server.close()
  })
})

async function migrate(url: string): Promise<void> {
  const db = openDatabase({
    url,
    max: 2,
    applicationName: 'migrate',
    role: null,
    statementTimeoutMs: 0,
    connectTimeoutMs: 2_000,
  })
  await migrateUp(db)
  await db.close()
}

describe('what it stands on may fall', () => {
  test('the database dies twice during a drain: it resumes by itself and no key goes out twice', async () => {
    const server = await startPostgres()
    await migrate(server.url())
    await sink.script({ otherwise: { kind: 'answer', status: 200, delayMs: 10 } })
    await seedEntries(server.url(), 'crm', 2_000)
    workers.push(await startTestWorker({ databaseUrl: server.url(), destinations: [makeCrm({ leaseMs: 6_000 })] }))
    for (const seen of [300, 900]) {
      await until(async () => (await sink.summary()).requests > seen)
      await server.restart('immediate')
    }
    await until(async () => (await countStates(server.url())).delivered === 2_000, { timeoutMs: 25_000 })
    expect((await sink.summary()).repeatedEffects).toBe(0)
    expect((await sink.summary()).effects).toBe(2_000)
    await workers.pop()?.stop()
    await server.close()
  })

  test.runIf(hasRedisServer())(
    'I7: Redis is flushed, killed and restarted during a drain: everything is delivered once',
    async () => {
      const redis = await startRedis()
      await sink.script({ otherwise: { kind: 'answer', status: 200, delayMs: 10 } })
      await start({ settings: { redisUrl: redis.url } })
      await seedEntries(database.url, 'crm', 1_500)
      await until(async () => (await sink.summary()).requests > 200)
      await redis.flush()
      await until(async () => (await sink.summary()).requests > 500)
      await redis.kill9()
      await until(async () => (await sink.summary()).requests > 900)
      await redis.start()
      await untilStates({ delivered: 1_500 })
      await expectTruthful()
      await redis.close()
    },
  )

  test('without any queue expired leases are still found, by the advisory-lock fallback', async () => {
    await seedEntries(database.url, 'crm', 1)
    await query(
      database.url,
      `WITH gone AS (DELETE FROM counterfoil.due RETURNING *)
       INSERT INTO counterfoil.lease (entry, destination, token, worker, attempt, tries, opened_at, expires_at, first_sent_at, first_send)
       SELECT entry, destination, gen_random_uuid(), 'dead', 1, 0, clock_timestamp() - interval '1 minute',
              clock_timestamp() - interval '30 seconds', clock_timestamp() - interval '1 minute', true FROM gone`,
    )
    await start({ settings: { redisUrl: 'redis://127.0.0.1:1' } })
    await untilStates({ delivered: 1 })
    expect(await readAttempts(database.url, 'key-1')).toMatchObject([
      { number: 1, worker: 'dead', outcome: 'uncertain', cause: 'worker_lost', decision: 'retry' },
      { number: 2, outcome: 'accepted' },
    ])
  })
})

describe('a reply of the database is lost after it took effect', () => {
  async function startBehindProxy(statement: string, times = 1) {
    const real = new URL(database.url)
    const proxy = await startTcpProxy({ target: { port: Number(real.port) } })
    const worker = await start({ databaseUrl: proxy.through(database.url) })
    // Warm, so that the statement is prepared and the fault meets an ordinary call.
    await seedEntries(database.url, 'crm', 20, 'warm')
    await untilStates({ delivered: 20 })
    proxy.arm({ kind: 'lose_reply', when: mentions(statement), how: 'cut', isComplete: endsWithReadyForQuery, times })
    return { proxy, worker }
  }

  test('of a lease: the entries are handed back by token and sent under a new attempt, never read as lost', async () => {
    const { proxy } = await startBehindProxy('lease_due', 1_000)
    await seedEntries(database.url, 'crm', 5)
    await until(async () => (await query(database.url, 'SELECT FROM counterfoil.lease')).length > 0)
    proxy.arm(null)
    await untilStates({ delivered: 25 })
    const attempts = await readAttempts(database.url, 'key-1')
    expect(attempts.at(-1)).toMatchObject({ outcome: 'accepted' })
    expect(attempts.length).toBeGreaterThan(1)
    for (const earlier of attempts.slice(0, -1)) {
      expect(earlier).toMatchObject({ outcome: 'not_sent', cause: 'lease_returned', decision: 'hand_back' })
    }
    expect(await sink.summary()).toMatchObject({ requests: 25, effects: 25 })
    await expectTruthful()
    await proxy.close()
  })

  test('of a close: it is repeated, recognised, and the entry is sent once', async () => {
    const { proxy, worker } = await startBehindProxy('close_attempts')
    await seedEntries(database.url, 'crm', 5)
    await until(() => worker.lines.some(({ msg }) => msg === 'outcomes.waiting'))
    await untilStates({ delivered: 25 })
    expect(await readAttempts(database.url, 'key-1')).toMatchObject([{ number: 1, outcome: 'accepted' }])
    expect(await sink.summary()).toMatchObject({ requests: 25, effects: 25 })
    expect(await query(database.url, 'SELECT FROM counterfoil.late_outcome')).toEqual([])
    await expectTruthful()
    await proxy.close()
  })
})

describe('a start is refused in one sentence', () => {
  test('where entries for a destination that was removed are still to be sent', async () => {
    await seedEntries(database.url, 'legacy', 1)
    await expect(start()).rejects.toMatchObject({ exitCode: 2, problems: [expect.stringContaining('"legacy"')] })
  })

  test('where the database cannot be reached', async () => {
    const starting = startTestWorker({ databaseUrl: 'postgres://nobody@127.0.0.1:1/none', destinations: [makeCrm()] })
    await expect(starting).rejects.toMatchObject({
      exitCode: 7,
      problems: [expect.stringContaining("can't be reached")],
    })
  })

  test('where the port of the probes is taken', async () => {
    const first = await start()
    await expect(start({ settings: { healthPort: first.healthPort } })).rejects.toMatchObject({
      exitCode: 2,
      problems: [expect.stringContaining('COUNTERFOIL_HEALTH_PORT')],
    })
  })
})

test('the probes tell alive, ready and stopping apart', async () => {
  const worker = await start()
  const ask = (path: string) => fetch(`http://127.0.0.1:${worker.healthPort}${path}`)
  expect((await ask('/livez')).status).toBe(200)
  await until(async () => (await ask('/readyz')).status === 200)
  await sink.script({ otherwise: { kind: 'answer', status: 200, delayMs: 700 } })
  await seedEntries(database.url, 'crm', 1)
  await until(async () => (await sink.summary()).requests === 1)
  const stopping = worker.stop()
  expect((await ask('/readyz')).status).toBe(503)
  expect((await ask('/livez')).status).toBe(200)
  await stopping
})
