import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { freshDatabase } from '../postgres/fresh-database.js'
import type { TestDatabase } from '../postgres/test-databases.js'
import { until } from '../process/until.js'
import { startTcpProxy, type TcpProxy } from './start-tcp-proxy.js'
import { endsWithReadyForQuery, mentions } from './tcp-fault.js'

describe('startTcpProxy between a client and PostgreSQL', () => {
  let database: TestDatabase
  let direct: pg.Client
  let proxy: TcpProxy
  const clients: pg.Client[] = []

  beforeAll(async () => {
    database = await freshDatabase()
    direct = new pg.Client({ connectionString: database.url })
    await direct.connect()
    await direct.query('CREATE TABLE paid (id int)')
    proxy = await startTcpProxy({ target: { port: Number(new URL(database.url).port) } })
  })

  afterEach(async () => {
    proxy.arm(null)
    proxy.restore()
    proxy.delay(0)
    await Promise.all(clients.splice(0).map((client) => client.end().catch(() => {})))
    await direct.query('TRUNCATE paid')
  })

  afterAll(async () => {
    await proxy.close()
    await direct.end()
    await database.drop()
  })

  async function connectThrough(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: proxy.through(database.url), connectionTimeoutMillis: 2_000 })
    client.on('error', () => {})
    await client.connect()
    clients.push(client)
    return client
  }
  const countPaid = async () => (await direct.query('SELECT count(*)::int AS n FROM paid')).rows[0].n

  it('loses the reply of a COMMIT that took effect', async () => {
    const client = await connectThrough()
    proxy.arm({ kind: 'lose_reply', when: mentions('COMMIT'), how: 'cut', isComplete: endsWithReadyForQuery })
    await client.query('BEGIN')
    await client.query('INSERT INTO paid VALUES (1)')
    await expect(client.query('COMMIT')).rejects.toThrow('Connection terminated')
    expect(await countPaid()).toBe(1)
    expect(proxy.struck()).toBe(1)
    // Spent: the next connection is served.
    expect((await (await connectThrough()).query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
  })

  it('loses the reply of an autocommitted prepared statement by its name, and hangs', async () => {
    const client = await connectThrough()
    const insert = (id: number) => client.query({ name: 'pay-it', text: 'INSERT INTO paid VALUES ($1)', values: [id] })
    await insert(1)
    proxy.arm({ kind: 'lose_reply', when: mentions('pay-it'), how: 'hang' })
    const second = insert(2).then(
      () => 'answered',
      () => 'failed',
    )
    await until(async () => (await countPaid()) === 2)
    proxy.cut()
    expect(await second).toBe('failed')
  })

  it('loses the request, so that nothing took effect', async () => {
    const client = await connectThrough()
    proxy.arm({ kind: 'lose_request', when: mentions('INSERT') })
    await expect(client.query('INSERT INTO paid VALUES (1)')).rejects.toThrow('Connection terminated')
    expect(await countPaid()).toBe(0)
  })

  it('cuts a reply in its middle', async () => {
    const client = await connectThrough()
    proxy.arm({ kind: 'cut_reply_after', bytes: 1_000 })
    await expect(client.query(`SELECT repeat('x', 5000)`)).rejects.toThrow('Connection terminated')
  })

  it('holds everything while paused and goes on afterwards', async () => {
    const client = await connectThrough()
    proxy.pause()
    let answered = false
    const query = client.query('INSERT INTO paid VALUES (7)').then(() => {
      answered = true
    })
    // A later statement on the direct connection has overtaken it.
    await direct.query('SELECT pg_sleep(0.1)')
    expect([answered, await countPaid()]).toEqual([false, 0])
    proxy.restore()
    await query
    expect(await countPaid()).toBe(1)
  })

  it('refuses, delays and counts', async () => {
    proxy.delay(30)
    const client = await connectThrough()
    const startedAt = performance.now()
    await client.query('SELECT 1')
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(59)
    proxy.refuse()
    await expect(connectThrough()).rejects.toThrow()
    await until(() => proxy.connections() === 0)
  })
})
