import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freshDatabase } from '@counterfoil/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { checkDatabase, type Database, openDatabase } from '../connection/index.js'
import { migrateUp, readMigrationStatus } from './index.js'

describe('migrateUp', () => {
  let database: Database
  let directory: string
  let drop: () => Promise<void>
  beforeEach(async () => {
    const fresh = await freshDatabase()
    drop = fresh.drop
    directory = await mkdtemp(join(tmpdir(), 'counterfoil-migrations-'))
    database = openDatabase({
      url: fresh.url,
      max: 4,
      applicationName: 'migrate-test',
      role: null,
      statementTimeoutMs: 5_000,
      connectTimeoutMs: 5_000,
    })
    await database.pool.query('DROP SCHEMA counterfoil CASCADE')
  })
  afterEach(async () => {
    await database.close()
    await drop()
    await rm(directory, { recursive: true })
  })

  const write = (name: string, sql: string) => writeFile(join(directory, name), sql)

  it('brings an empty database to what the program knows, and has nothing to do the second time', async () => {
    const before = await readMigrationStatus(database)
    expect(before).toMatchObject({ applied: [], unknown: [] })
    expect(before.pending.length).toBeGreaterThan(0)
    expect(await migrateUp(database)).toEqual({ applied: before.pending })
    expect(await migrateUp(database)).toEqual({ applied: [] })
    expect(await readMigrationStatus(database)).toEqual({ applied: before.pending, pending: [], unknown: [] })
    expect(await checkDatabase(database)).toEqual([])
  })

  it('lets two migrators at once apply each step once', async () => {
    await write('0001_one.sql', 'CREATE TABLE counterfoil.one (); SELECT pg_sleep(0.3)')
    const both = await Promise.all([migrateUp(database, { directory }), migrateUp(database, { directory })])
    expect(both.map((one) => one.applied).sort()).toEqual([[], ['0001_one.sql']])
  })

  it('keeps the steps before one that fails, and nothing of that one', async () => {
    await write('0001_one.sql', 'CREATE TABLE counterfoil.one ()')
    await write('0002_two.sql', 'CREATE TABLE counterfoil.two (); SELECT 1 / 0')
    await expect(migrateUp(database, { directory })).rejects.toThrow(
      'migration 0002_two.sql failed and was undone: division by zero',
    )
    expect(await readMigrationStatus(database, { directory })).toEqual({
      applied: ['0001_one.sql'],
      pending: ['0002_two.sql'],
      unknown: [],
    })
    const { rows } = await database.pool.query(`SELECT to_regclass('counterfoil.two') AS two`)
    expect(rows).toEqual([{ two: null }])
    await write('0002_two.sql', 'CREATE TABLE counterfoil.two ()')
    expect(await migrateUp(database, { directory })).toEqual({ applied: ['0002_two.sql'] })
  })

  it('says so when another migrator holds the lock for too long, and takes over what a killed one left', async () => {
    const other = await database.pool.connect()
    await other.query('SELECT pg_advisory_lock($1)', [0x0c0fe4f0])
    await expect(migrateUp(database, { waitMs: 150 })).rejects.toThrow('another process has been migrating')
    other.release(true)
    expect((await migrateUp(database, { waitMs: 5_000 })).applied.length).toBeGreaterThan(0)
  })

  it('refuses to touch a schema that is newer than the program, and the check says so', async () => {
    await migrateUp(database)
    await database.pool.query(
      `INSERT INTO counterfoil.migration (name, batch, migration_time) VALUES ('9999_future.sql', 9, now())`,
    )
    await expect(migrateUp(database)).rejects.toThrow()
    expect(await checkDatabase(database)).toEqual([
      expect.stringContaining('newer than this program (it has 9999_future.sql)'),
    ])
  })

  it('checks a database that was never migrated, is read-only, or cannot be reached', async () => {
    expect(await checkDatabase(database)).toEqual([expect.stringContaining('migrate up')])
    const away = openDatabase({ ...database.options, url: 'postgres://nobody@127.0.0.1:1/none' })
    expect(await checkDatabase(away)).toEqual([expect.stringContaining("can't be reached: ECONNREFUSED")])
    await away.close()
    const loose = new URL(database.options.url)
    loose.searchParams.set('options', '-c synchronous_commit=off')
    await database.pool.query(`ALTER DATABASE ${loose.pathname.slice(1)} SET synchronous_commit = off`)
    await database.pool.query(
      `ALTER DATABASE ${loose.pathname.slice(1)} SET default_transaction_isolation = 'serializable'`,
    )
    const strict = openDatabase(database.options)
    const problems = (await checkDatabase(strict)).join('\n')
    expect(problems).toContain('synchronous_commit is off')
    expect(problems).toContain('default isolation is serializable')
    await strict.close()
  })
})
