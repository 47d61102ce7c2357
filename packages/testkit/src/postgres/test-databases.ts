import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { migrateDatabase } from './migrate-database.js'

/** A database of one test's own: migrated, empty, on the test run's server. */
export type TestDatabase = {
  readonly name: string
  /** Connection string of the superuser. */
  readonly url: string
  /** Drops it, ending sessions that are still open. */
  readonly drop: () => Promise<void>
}

export const TEMPLATE = 'counterfoil_template'

/** Clones the migrated template on the server at `serverUrl` (a superuser's connection string). */
export async function cloneDatabase(serverUrl: string, template = TEMPLATE): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`
  await runOnServer(serverUrl, `CREATE DATABASE ${name} TEMPLATE ${template}`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return {
    name,
    url: url.href,
    drop: () => runOnServer(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  }
}

/** A new, migrated database on any server, e.g. one of `startPostgres()` that the test is going to kill. */
export async function createMigratedDatabase(serverUrl: string): Promise<TestDatabase> {
  const database = await cloneDatabase(serverUrl, 'template1')
  await migrateDatabase(database.url)
  return database
}

/** Creates the template: an empty database, filled by `migrate`, then closed to sessions so that cloning never waits. */
export async function createTemplate(serverUrl: string, migrate: (url: string) => Promise<void>): Promise<void> {
  await runOnServer(serverUrl, `CREATE DATABASE ${TEMPLATE}`)
  const url = new URL(serverUrl)
  url.pathname = `/${TEMPLATE}`
  await migrate(url.href)
  await runOnServer(serverUrl, `ALTER DATABASE ${TEMPLATE} WITH ALLOW_CONNECTIONS false`)
}

async function runOnServer(serverUrl: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl, connectionTimeoutMillis: 10_000 })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
