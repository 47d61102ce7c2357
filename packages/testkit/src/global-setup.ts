import type { PostgresServer } from './postgres/start-postgres.js'
import { startSharedPostgres } from './postgres/start-shared-postgres.js'

// Each vitest project loads this file for itself, in the same process: the server hangs on that process, not on the file.
type Run = { server: Promise<PostgresServer> | null; users: number }
const runs = globalThis as { counterfoilTestRun?: Run }

/** Global setup of the projects that need a database: the first to come starts the server, the last to go ends it. */
export async function setup(): Promise<void> {
  runs.counterfoilTestRun ??= { server: null, users: 0 }
  const run = runs.counterfoilTestRun
  run.users += 1
  run.server ??= startSharedPostgres()
  await run.server
}

export async function teardown(): Promise<void> {
  const run = runs.counterfoilTestRun
  if (run === undefined) return
  run.users -= 1
  if (run.users > 0 || run.server === null) return
  const server = await run.server
  run.server = null
  await server.close()
}
