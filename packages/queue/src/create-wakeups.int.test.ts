import {
  freshDatabase,
  hasRedisServer,
  type PostgresServer,
  type RedisServer,
  startPostgres,
  startRedis,
  type TestDatabase,
  until,
} from '@counterfoil/testkit'
import { type Logger, pino } from 'pino'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createWakeups } from './create-wakeups.js'
import type { Wakeups } from './wakeups.js'

const lines: string[] = []
const log: Logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) })
const open: Wakeups[] = []

function openWakeups(where: { redisUrl: string | null; databaseUrl: string }): Wakeups {
  const wakeups = createWakeups({ ...where, log })
  open.push(wakeups)
  return wakeups
}

/** Wakes until the listener has heard it: a wake-up is a hint, and one before the connection is up is lost. */
async function wakeUntilHeard(wakeups: Wakeups, heard: readonly string[], name: string): Promise<void> {
  await until(() => {
    wakeups.wake(name)
    return heard.includes(name)
  })
}

async function timeMs(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now()
  await work()
  return performance.now() - from
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((wakeups) => wakeups.close()))
  lines.length = 0
})

function suite(where: () => { redisUrl: string | null; databaseUrl: string }): void {
  test('a wake-up in one process reaches the listener of another, whatever the destination is called (case B053: name of a job with a colon or digits)', async () => {
    const heard: string[] = []
    const receiver = openWakeups(where())
    const worker = openWakeups(where())
    await worker.listen((destination) => void heard.push(destination))
    for (const name of ['crm', 'expire:r1:7', '123', '0', 'a b', 'žluť 🦊']) await wakeUntilHeard(receiver, heard, name)
  })

  test('a burst of wake-ups is few jobs, and the last of them is not lost', async () => {
    const heard: string[] = []
    const wakeups = openWakeups(where())
    await wakeups.listen((destination) => void heard.push(destination))
    await wakeUntilHeard(wakeups, heard, 'warm')
    for (let count = 0; count < 1_000; count += 1) wakeups.wake('crm')
    await until(() => heard.includes('crm'))
    const before = heard.length
    wakeups.wake('crm')
    await until(() => heard.length > before)
    expect(heard.filter((name) => name === 'crm').length).toBeLessThan(10)
  })

  test('a scheduled job runs once across the fleet for each interval', async () => {
    const runs: string[] = []
    const fleet = ['a', 'b', 'c'].map((name) => ({ name, wakeups: openWakeups(where()) }))
    for (const { name, wakeups } of fleet) {
      await wakeups.listen(() => {})
      await wakeups.schedule([{ name: 'tick', everyMs: 300, run: async () => void runs.push(name) }])
    }
    await until(() => runs.length > 0)
    const before = runs.length
    const ms = await timeMs(() => until(() => runs.length >= before + 5))
    expect(ms).toBeGreaterThan(4 * 300 * 0.6)
    expect(await fleet[0]?.wakeups.isLate('tick')).toBe(false)
  })
}

describe('on PostgreSQL', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await freshDatabase()
  })
  afterAll(() => database.drop())
  suite(() => ({ redisUrl: null, databaseUrl: database.url }))
})

describe('PostgreSQL that comes and goes', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres({ settings: { fsync: 'off' } })
  })
  afterAll(() => server.close())

  test('starts while it is down, works when it is back, and closes in time when it is silent (case B059: stop that hangs without Redis)', async () => {
    await server.stop('immediate')
    const heard: string[] = []
    const wakeups = openWakeups({ redisUrl: null, databaseUrl: server.url() })
    await wakeups.listen((destination) => void heard.push(destination))
    wakeups.wake('crm')
    expect(await wakeups.isLate('anything')).toBe(true)
    await server.start()
    await wakeUntilHeard(wakeups, heard, 'crm')
    await server.restart('immediate')
    await wakeUntilHeard(wakeups, heard, 'after a restart')
    server.pause()
    wakeups.wake('crm')
    expect(await timeMs(() => wakeups.close())).toBeLessThan(2_000)
    server.resume()
  })

  test('closes in time when it never came (case B059: stop that hangs without Redis)', async () => {
    await server.stop('immediate')
    const wakeups = openWakeups({ redisUrl: null, databaseUrl: server.url() })
    wakeups.wake('crm')
    expect(await timeMs(() => wakeups.close())).toBeLessThan(2_000)
    expect(lines.filter((line) => line.includes('wakeups.away')).length).toBeLessThanOrEqual(1)
    await server.start()
  })
})

describe.runIf(hasRedisServer())('on Redis', () => {
  let redis: RedisServer
  const where = () => ({ redisUrl: redis.url, databaseUrl: 'postgres://nobody@127.0.0.1:1/none' })
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis.close())
  suite(where)

  test('I7: after everything was flushed wake-ups and schedules go on (case B057: job that vanished)', async () => {
    const heard: string[] = []
    let runs = 0
    const wakeups = openWakeups(where())
    await wakeups.listen((destination) => void heard.push(destination))
    await wakeups.schedule([
      {
        name: 'tick',
        everyMs: 200,
        run: async () => {
          runs += 1
        },
      },
    ])
    await until(() => runs > 1)
    await redis.flush()
    await wakeUntilHeard(wakeups, heard, 'crm')
    expect(await wakeups.isLate('tick')).toBe(true)
    const before = runs
    await until(() => runs > before + 1)
  })

  test('is down at the start, comes, dies, comes again: nothing throws, one line per outage', async () => {
    await redis.kill9()
    const heard: string[] = []
    const wakeups = openWakeups(where())
    await wakeups.listen((destination) => void heard.push(destination))
    for (let count = 0; count < 100; count += 1) wakeups.wake('crm')
    await redis.start()
    await wakeUntilHeard(wakeups, heard, 'crm')
    await redis.kill9()
    await until(() => {
      wakeups.wake('crm')
      return lines.some((line) => line.includes('wakeups.away'))
    })
    await redis.start()
    await wakeUntilHeard(wakeups, heard, 'again')
    await until(() => lines.some((line) => line.includes('wakeups.back')))
    // The first outage was shorter than the patience of the first connect, so it is not worth a line.
    expect(lines.filter((line) => line.includes('wakeups.away'))).toHaveLength(1)
  })

  test('a silent Redis delays neither a wake-up nor the close', async () => {
    const heard: string[] = []
    const wakeups = openWakeups(where())
    await wakeups.listen((destination) => void heard.push(destination))
    await wakeUntilHeard(wakeups, heard, 'crm')
    redis.pause()
    expect(await timeMs(async () => wakeups.wake('crm'))).toBeLessThan(20)
    expect(await timeMs(() => wakeups.close())).toBeLessThan(2_000)
    redis.resume()
  })

  test('warns when Redis would evict', async () => {
    const evicting = await startRedis({ settings: { 'maxmemory-policy': 'allkeys-lru' } })
    openWakeups({ ...where(), redisUrl: evicting.url })
    await until(() => lines.some((line) => line.includes('redis.evicts')))
    await evicting.close()
  })
})
