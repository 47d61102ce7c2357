import { readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'
import { SERVER_URL_VARIABLE } from './fresh-database.js'
import { type PostgresServer, startPostgres } from './start-postgres.js'
import { createTemplate } from './test-databases.js'

const MIGRATIONS = new URL('../../../../migrations/', import.meta.url)

/** Starts the one server of a test run, with its migrated template, and tells the test processes where it is. */
export async function startSharedPostgres(): Promise<PostgresServer> {
  const server = await startPostgres({ settings: { fsync: 'off', max_connections: '300', shared_buffers: '128MB' } })
  try {
    await createTemplate(server.url(), migrate)
  } catch (error) {
    await server.close()
    throw error
  }
  process.env[SERVER_URL_VARIABLE] = server.url()
  return server
}

async function migrate(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    for (const name of readdirSync(MIGRATIONS).sort()) {
      if (name.endsWith('.sql')) await client.query(readFileSync(new URL(name, MIGRATIONS), 'utf8'))
    }
  } finally {
    await client.end()
  }
}
