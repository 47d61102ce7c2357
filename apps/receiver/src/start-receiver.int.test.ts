import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { Agent, request as httpRequest } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { endsWithReadyForQuery, freshDatabase, rawHttp, startTcpProxy, until } from '@counterfoil/testkit'
import express from 'express'
import pg from 'pg'
import pino from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openIntake } from './open-intake.js'
import type { ReceiverSettings } from './receiver-settings.js'
import { type RunningReceiver, startReceiver } from './start-receiver.js'
import { StartRefused } from './start-refused.js'
import { makeSource, signedHeaders, signedRequest } from './testing/push-harness.js'
import { toExpress } from './to-express.js'

const BODY = '{"ticket":"4821"}'
let database: Awaited<ReturnType<typeof freshDatabase>>
let client: pg.Client
let spoolDir: string
let logged: string[]
const cleanups: (() => Promise<unknown>)[] = []

beforeEach(async () => {
  database = await freshDatabase()
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
  spoolDir = await mkdtemp(join(tmpdir(), 'receiver-'))
  logged = []
})
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean()
  await client.end()
  await database.drop()
  await rm(spoolDir, { recursive: true, force: true })
})

const settings = (changes: Partial<ReceiverSettings> = {}): ReceiverSettings => ({
  databaseUrl: database.url,
  databasePool: 10,
  host: '127.0.0.1',
  port: 0,
  healthHost: '127.0.0.1',
  healthPort: 0,
  redisUrl: null,
  spoolDir,
  instance: 'test-receiver',
  maxQueuedPushes: 1000,
  maxQueuedBytes: 64 * 1024 * 1024,
  clockToleranceMs: 2000,
  graceMs: 8000,
  drainDelayMs: 0,
  ...changes,
})

async function start(changes: Partial<ReceiverSettings> = {}, source = makeSource()): Promise<RunningReceiver> {
  const log = pino({ level: 'info' }, { write: (line: string) => void logged.push(line) })
  const receiver = await startReceiver({
    settings: settings(changes),
    config: { sources: new Map([[source.name, source]]) },
    log,
  })
  cleanups.push(() => receiver.stop())
  return receiver
}

const push = (receiver: RunningReceiver, id: string) => rawHttp(receiver.port, signedRequest(BODY, { id }))
const readyz = async (receiver: RunningReceiver) =>
  (await fetch(`http://127.0.0.1:${receiver.healthPort}/readyz`)).status
const rows = async (sql: string): Promise<Record<string, unknown>[]> => (await client.query(sql)).rows
const count = async (table: string) => Number((await rows(`SELECT count(*) FROM counterfoil.${table}`))[0]?.count)

describe('a running receiver', () => {
  it('acks what is durable: claim, observation, entry, and soon the ack row (I1)', async () => {
    const receiver = await start()
    expect(await readyz(receiver)).toBe(200)
    expect((await push(receiver, 'd-1')).status).toBe(204)
    expect([await count('delivery'), await count('observation'), await count('entry'), await count('due')]).toEqual([
      1, 1, 1, 1,
    ])
    const acks = await until(async () => {
      const found = await rows(
        'SELECT a.* FROM counterfoil.ack a JOIN counterfoil.observation o ON o.id = a.observation',
      )
      return found.length > 0 ? found : null
    })
    expect(acks).toMatchObject([{ status: 204, result: 'written' }])
  })

  it('does not start without a source whose quarantined deliveries wait for a person (I12)', async () => {
    const keeping = await start({}, makeSource({}, { onMalformed: 'quarantine' }))
    expect((await rawHttp(keeping.port, signedRequest('no JSON', { id: 'q-1' }))).status).toBe(204)
    await keeping.stop()
    const other = start({}, makeSource({ name: 'orders', path: '/hooks/orders' }))
    await expect(other).rejects.toThrow(/source "tickets" still has quarantined deliveries/)
    await rows(`INSERT INTO counterfoil.act (actor, action, reason, delivery)
                SELECT 'ana', 'discard', 'test', id FROM counterfoil.delivery`)
    expect(await readyz(await start({}, makeSource({ name: 'orders', path: '/hooks/orders' })))).toBe(200)
  })

  it('does not start where one push may be larger than all that may wait', async () => {
    const large = start({ maxQueuedBytes: 1_048_576 }, makeSource({ bodyLimitBytes: 2_000_000 }))
    await expect(large).rejects.toThrow(/bodyLimit.*COUNTERFOIL_MAX_QUEUED_BYTES/)
  })

  it('makes one claim of 50 concurrent copies, all of them acked and observed (I2)', async () => {
    const receiver = await start()
    const answers = await Promise.all(Array.from({ length: 50 }, () => push(receiver, 'same')))
    expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(204))
    expect([await count('delivery'), await count('observation'), await count('entry')]).toEqual([1, 50, 1])
    await until(async () => (await count('ack')) === 50)
  })

  it('answers 503 at the ack deadline when the table is locked, and what commits later is on record as that', async () => {
    const receiver = await start({}, makeSource({}, { deadlineMs: 300 }))
    await client.query('BEGIN; LOCK TABLE counterfoil.delivery IN ACCESS EXCLUSIVE MODE')
    const startedAt = performance.now()
    const answer = await push(receiver, 'late')
    expect(answer.status).toBe(503)
    expect(performance.now() - startedAt).toBeLessThan(1000)
    await client.query('COMMIT')
    await until(async () => (await count('delivery')) === 1)
    const acks = await until(async () => {
      const found = await rows('SELECT status FROM counterfoil.ack')
      return found.length > 0 ? found : null
    })
    expect(acks).toEqual([{ status: 503 }])
    await until(() => logged.some((line) => line.includes('push.committed_later')))
    expect((await push(receiver, 'late')).status).toBe(204)
    expect([await count('delivery'), await count('entry')]).toEqual([1, 1])
  })

  it('spools authenticated pushes while the database is away, and the next good commit writes them down', async () => {
    const proxy = await startTcpProxy({ target: { port: Number(new URL(database.url).port) } })
    cleanups.push(() => proxy.close())
    const receiver = await start({ databaseUrl: proxy.through(database.url) }, makeSource({}, { deadlineMs: 500 }))
    expect((await push(receiver, 'before')).status).toBe(204)
    proxy.refuse()
    expect((await push(receiver, 'during-1')).status).toBe(503)
    expect((await push(receiver, 'during-2')).status).toBe(503)
    await until(async () => (await readyz(receiver)) === 503)
    expect(await readdir(spoolDir)).toHaveLength(1)
    proxy.restore()
    await until(async () => (await push(receiver, 'during-1')).status === 204)
    await until(async () => (await count('unclaimed')) >= 2)
    const open = await rows(
      `SELECT u.delivery_id FROM counterfoil.unclaimed u
       WHERE NOT EXISTS (SELECT FROM counterfoil.delivery d WHERE (d.delivery_id, d.source) = (u.delivery_id, u.source))`,
    )
    expect(new Set(open.map((row) => row.delivery_id))).toEqual(new Set(['during-2']))
    await until(async () => (await readyz(receiver)) === 200)
  })

  it('answers 503 at its deadline while the database hangs without a word, and recovers with it', async () => {
    const proxy = await startTcpProxy({ target: { port: Number(new URL(database.url).port) } })
    cleanups.push(() => proxy.close())
    const receiver = await start({ databaseUrl: proxy.through(database.url) }, makeSource({}, { deadlineMs: 400 }))
    expect((await push(receiver, 'before')).status).toBe(204)
    proxy.pause()
    const startedAt = performance.now()
    const answers = await Promise.all(['h-1', 'h-2', 'h-3'].map((id) => push(receiver, id)))
    expect(answers.map(({ status }) => status)).toEqual([503, 503, 503])
    expect(performance.now() - startedAt).toBeLessThan(1500)
    await until(async () => (await readyz(receiver)) === 503)
    proxy.restore()
    await until(async () => (await push(receiver, 'h-1')).status === 204)
    await until(async () => (await readyz(receiver)) === 200)
    expect(await rows(`SELECT id FROM counterfoil.delivery WHERE delivery_id = 'h-1'`)).toHaveLength(1)
  })

  it('counts a push once when the reply to its COMMIT is lost (I2)', async () => {
    const proxy = await startTcpProxy({ target: { port: Number(new URL(database.url).port) } })
    cleanups.push(() => proxy.close())
    const receiver = await start({ databaseUrl: proxy.through(database.url) })
    expect((await push(receiver, 'before')).status).toBe(204)
    // One statement is the whole transaction here, so its reply is that of the COMMIT.
    const when = (sent: Buffer) => sent.includes('doubt')
    proxy.arm({ kind: 'lose_reply', when, how: 'cut', isComplete: endsWithReadyForQuery })
    const answer = await push(receiver, 'doubt')
    expect(proxy.struck()).toBe(1)
    proxy.arm(null)
    expect([204, 503]).toContain(answer.status)
    await until(async () => (await push(receiver, 'doubt')).status === 204)
    const [counts] = await rows(
      `SELECT count(DISTINCT d.id)::int AS claims, count(*) FILTER (WHERE o.kind = 'first')::int AS firsts
       FROM counterfoil.delivery d JOIN counterfoil.observation o ON o.delivery = d.id WHERE d.delivery_id = 'doubt'`,
    )
    expect(counts).toEqual({ claims: 1, firsts: 1 })
    expect(await rows(`SELECT 1 FROM counterfoil.entry WHERE idempotency_key = 'key-doubt'`)).toHaveLength(1)
  })

  it('answers 503 while the database is read-only, and takes pushes again when it is not', async () => {
    const receiver = await start({}, makeSource({}, { deadlineMs: 1000 }))
    const readOnly = (on: boolean) =>
      client.query(`ALTER DATABASE ${database.name} SET default_transaction_read_only = ${on};
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()`)
    await readOnly(true)
    expect((await push(receiver, 'ro')).status).toBe(503)
    await until(async () => (await readyz(receiver)) === 503)
    await client.query('SET default_transaction_read_only = off')
    await readOnly(false)
    await until(async () => (await push(receiver, 'ro')).status === 204)
    await until(async () => (await readyz(receiver)) === 200)
  })

  it('is unready and answers 503 while this machine is too far off the database clock', async () => {
    const receiver = await start({ clockToleranceMs: -1 })
    expect((await push(receiver, 'd-1')).status).toBe(503)
    expect(await readyz(receiver)).toBe(503)
    expect(await count('delivery')).toBe(0)
  })
})

describe('an intake without our server', () => {
  it('serves the Express application of its owner, and flushes its evidence when it is closed', async () => {
    const source = makeSource()
    const { host: _host, port: _port, ...rest } = settings()
    const log = pino({ level: 'silent' })
    const intake = await openIntake({ settings: rest, config: { sources: new Map([[source.name, source]]) }, log })
    const server = express().use(toExpress(intake.handler)).listen(0, '127.0.0.1')
    cleanups.push(() => new Promise((resolve) => server.close(resolve)))
    await until(() => server.listening)
    const answer = await rawHttp((server.address() as AddressInfo).port, signedRequest(BODY, { id: 'embedded' }))
    expect(answer.status).toBe(204)
    expect((await intake.checkReadiness()).every((check) => check.ok)).toBe(true)
    await intake.whenAnswered()
    expect(await intake.close(performance.now() + 5000)).toEqual({ lostAcks: 0 })
    expect([await count('delivery'), await count('ack')]).toEqual([1, 1])
  })
})

describe('a start that is refused says why in one sentence and with an exit code', () => {
  const refusal = async (changes: Partial<ReceiverSettings>) => {
    const error = await start(changes).then(
      () => null,
      (thrown: unknown) => thrown,
    )
    expect(error).toBeInstanceOf(StartRefused)
    return error as StartRefused
  }

  it('when the database is unreachable', async () => {
    const refused = await refusal({ databaseUrl: 'postgres://nobody:wrong-password@127.0.0.1:1/none' })
    expect(refused).toMatchObject({ exitCode: 7, problems: [expect.stringMatching(/can't be reached/)] })
    expect(refused.message).not.toContain('wrong-password')
  })

  it.each([
    ['synchronous_commit is off', `ALTER DATABASE %I SET synchronous_commit = off`, /synchronous_commit is off/],
    ['it is read-only', `ALTER DATABASE %I SET default_transaction_read_only = on`, /read-only/],
    [
      'the isolation is not READ COMMITTED',
      `ALTER DATABASE %I SET default_transaction_isolation = serializable`,
      /isolation/,
    ],
    ['the schema is older than the program', 'DELETE FROM counterfoil_migrations', /older|migrate up/],
  ])('when %s', async (_what, sql, sentence) => {
    if (sql.startsWith('DELETE')) await client.query('DROP SCHEMA counterfoil CASCADE')
    else await client.query(sql.replace('%I', database.name))
    const refused = await refusal({})
    expect(refused.exitCode).toBe(2)
    expect(refused.problems.join('\n')).toMatch(sentence)
  })

  it('when its port is taken', async () => {
    const first = await start()
    const refused = await refusal({ port: first.port })
    expect(refused).toMatchObject({ exitCode: 2, problems: [expect.stringContaining('COUNTERFOIL_PORT')] })
    const health = await refusal({ healthPort: first.healthPort })
    expect(health.problems).toEqual([expect.stringContaining('COUNTERFOIL_HEALTH_PORT')])
  })
})

describe('a stop', () => {
  it('is unready at once, accepts during its delay, and ends idle', async () => {
    const receiver = await start({ drainDelayMs: 700 })
    const stopped = receiver.stop()
    expect(await readyz(receiver)).toBe(503)
    const answer = await push(receiver, 'during-the-delay')
    expect(answer.status).toBe(204)
    expect(answer.headers.get('connection')).toBe('close')
    await stopped
    await expect(rawHttp(receiver.port, 'GET / HTTP/1.1\r\n\r\n')).rejects.toThrow('ECONNREFUSED')
    expect(await count('ack')).toBe(1)
  })

  it('answers a push that was admitted before it, however long its transaction waits', async () => {
    const receiver = await start({}, makeSource({}, { deadlineMs: 5000 }))
    await client.query('BEGIN; LOCK TABLE counterfoil.delivery IN ACCESS EXCLUSIVE MODE')
    const answer = push(receiver, 'held')
    await until(async () => (await rows(`SELECT 1 FROM pg_locks WHERE NOT granted`)).length > 0)
    const stopped = receiver.stop()
    await new Promise((resolve) => setTimeout(resolve, 700))
    await client.query('COMMIT')
    expect((await answer).status).toBe(204)
    await stopped
    expect([await count('delivery'), await count('ack')]).toEqual([1, 1])
  })

  it('drops no push of clients that keep their connections busy', async () => {
    const receiver = await start({ drainDelayMs: 300 })
    const agent = new Agent({ keepAlive: true, maxSockets: 8 })
    let stopping = false
    const acked: string[] = []
    const lost: string[] = []
    const send = (id: string) =>
      new Promise<'acked' | 'refused'>((resolve) => {
        const headers = Object.fromEntries(
          signedHeaders(BODY, { id })
            .trim()
            .split('\r\n')
            .map((line) => line.split(': ')),
        ) as Record<string, string>
        const outgoing = httpRequest({ agent, port: receiver.port, path: '/hooks/tickets', method: 'POST', headers })
        outgoing.on('response', (response) => {
          response.resume()
          if (response.statusCode === 204) acked.push(id)
          else lost.push(`${id}: ${response.statusCode}`)
          response.on('end', () => resolve('acked'))
        })
        outgoing.on('error', (error: NodeJS.ErrnoException) => {
          if (error.code !== 'ECONNREFUSED') lost.push(`${id}: ${error.code}`)
          resolve('refused')
        })
        outgoing.end(BODY)
      })
    const worker = async (name: number) => {
      for (let index = 0; ; index += 1) {
        if ((await send(`${name}-${index}`)) === 'refused' && stopping) return
      }
    }
    const workers = [0, 1, 2, 3, 4, 5, 6, 7].map(worker)
    await until(() => acked.length > 100)
    stopping = true
    await receiver.stop()
    await Promise.all(workers)
    agent.destroy()
    expect(lost).toEqual([])
    const claimed = new Set((await rows('SELECT delivery_id FROM counterfoil.delivery')).map((row) => row.delivery_id))
    expect(acked.filter((id) => !claimed.has(id))).toEqual([])
    expect(await count('ack')).toBe(acked.length)
  })

  it('ends within its grace although a client never finishes its body', async () => {
    const receiver = await start({ graceMs: 1500 })
    const socket = connect(receiver.port, '127.0.0.1')
    socket.on('error', () => {})
    let received = ''
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString()
    })
    const head = `POST /hooks/tickets HTTP/1.1\r\n${signedHeaders(BODY)}Content-Length: 100\r\n`
    socket.write(`${head}Expect: 100-continue\r\n\r\n`)
    await until(() => received.includes('100 Continue'))
    socket.write('half')
    const startedAt = performance.now()
    await receiver.stop()
    expect(performance.now() - startedAt).toBeLessThan(2500)
    expect(logged.find((line) => line.includes('receiver.stopped'))).toContain('"unanswered":1')
    socket.destroy()
  })
})
