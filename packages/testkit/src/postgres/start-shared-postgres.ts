import { SERVER_URL_VARIABLE } from './fresh-database.js'
import { migrateDatabase } from './migrate-database.js'
import { type PostgresServer, startPostgres } from './start-postgres.js'
import { createTemplate } from './test-databases.js'

/** Starts the one server of a test run, with its migrated template, and tells the test processes where it is. */
export async function startSharedPostgres(): Promise<PostgresServer> {
  const server = await startPostgres({ settings: { fsync: 'off', max_connections: '300', shared_buffers: '128MB' } })
  try {
    await createTemplate(server.url(), migrateDatabase)
  } catch (error) {
    await server.close()
    throw error
  }
  process.env[SERVER_URL_VARIABLE] = server.url()
  return server
}
