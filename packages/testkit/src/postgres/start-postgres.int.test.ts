import { existsSync } from 'node:fs'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listChildren } from '../process/list-children.js'
import { until } from '../process/until.js'
import { type PostgresServer, startPostgres } from './start-postgres.js'
import { createMigratedDatabase } from './test-databases.js'

describe('startPostgres', () => {
  let server: PostgresServer

  beforeAll(async () => {
    server = await startPostgres({ settings: { max_connections: '20' } })
  })
  afterAll(async () => {
    await server.close()
    expect(existsSync(server.dataDir)).toBe(false)
  })

  async function connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: server.url(), query_timeout: 300, connectionTimeoutMillis: 2_000 })
    client.on('error', () => {})
    await client.connect()
    return client
  }
  async function query(sql: string): Promise<unknown[]> {
    const client = await connect()
    try {
      return (await client.query(sql)).rows
    } finally {
      await client.end()
    }
  }

  it('runs with the durability that PostgreSQL has by default, and with the settings asked for', async () => {
    expect(await query('SHOW fsync')).toEqual([{ fsync: 'on' }])
    expect(await query('SHOW synchronous_commit')).toEqual([{ synchronous_commit: 'on' }])
    expect(await query('SHOW max_connections')).toEqual([{ max_connections: '20' }])
  })

  it('keeps what was committed when it is killed, and comes back on the same port', async () => {
    await query('CREATE TABLE kept AS SELECT 1 AS n')
    const client = await connect()
    const children = listChildren(server.pid() ?? 0)
    expect(children.length).toBeGreaterThan(0)
    await server.kill9()
    await expect(client.query('SELECT 1')).rejects.toThrow()
    await expect(connect()).rejects.toThrow('ECONNREFUSED')
    await server.start()
    expect(await query('SELECT n FROM kept')).toEqual([{ n: 1 }])
  })

  it('answers nothing while paused, with its connections still open', async () => {
    const client = await connect()
    server.pause()
    await expect(client.query('SELECT 1')).rejects.toThrow('timeout')
    server.resume()
    await until(() => query('SELECT 1'))
  })

  it('is killed while paused and in the middle of a statement, and comes back', async () => {
    const client = await connect()
    const sleeping = expect(client.query('SELECT pg_sleep(60)')).rejects.toThrow()
    server.pause()
    await server.kill9()
    await sleeping
    await server.start()
    expect(await query('SELECT 1 AS one')).toEqual([{ one: 1 }])
  })

  it('takes a migrated database of a test', async () => {
    const database = await createMigratedDatabase(server.url())
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    expect((await client.query('SELECT count(*)::int AS n FROM counterfoil.delivery')).rows).toEqual([{ n: 0 }])
    await client.end()
    await database.drop()
  })

  it.each(['fast', 'immediate'] as const)('restarts after a %s stop', async (mode) => {
    await server.restart(mode)
    expect(await query('SELECT 1 AS one')).toEqual([{ one: 1 }])
  })
})
