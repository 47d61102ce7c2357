import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { freshDatabase } from './fresh-database.js'

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

describe('freshDatabase', () => {
  it('is migrated, with synchronous_commit on', async () => {
    const database = await freshDatabase()
    expect(await query(database.url, 'SELECT count(*)::int AS n FROM counterfoil.delivery')).toEqual([{ n: 0 }])
    expect(await query(database.url, 'SHOW synchronous_commit')).toEqual([{ synchronous_commit: 'on' }])
    await database.drop()
  })

  it('gives ten callers at once ten databases that share nothing', async () => {
    const databases = await Promise.all(Array.from({ length: 10 }, () => freshDatabase()))
    await Promise.all(
      databases.map(({ url, name }) => query(url, `CREATE TABLE mine AS SELECT '${name}'::text AS name`)),
    )
    const names = await Promise.all(databases.map(({ url }) => query(url, 'SELECT name FROM mine')))
    expect(names).toEqual(databases.map(({ name }) => [{ name }]))
    await Promise.all(databases.map((database) => database.drop()))
  })

  it('is dropped although a session is still open', async () => {
    const database = await freshDatabase()
    const client = new pg.Client({ connectionString: database.url })
    client.on('error', () => {})
    await client.connect()
    await database.drop()
    await expect(client.query('SELECT 1')).rejects.toThrow()
  })
})
