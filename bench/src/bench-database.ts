import { migrateUp, openDatabase } from '@counterfoil/db'
import { type PostgresServer, startPostgres } from '@counterfoil/testkit'
import pg from 'pg'

const TEMPLATE = 'bench_template'

export type BenchServer = {
  /** A migrated database of its own, so that no run pays for the rows of the one before. */
  readonly makeDatabase: (name: string) => Promise<string>
  readonly close: () => Promise<void>
}

/** PostgreSQL with default durability: fsync on, synchronous commit on. Only memory and connections are raised. */
export async function startBenchServer(): Promise<BenchServer> {
  const server: PostgresServer = await startPostgres({
    settings: { shared_buffers: '512MB', max_connections: '200', max_wal_size: '4GB' },
  })
  await run(server.url(), `CREATE DATABASE ${TEMPLATE}`)
  const template = openDatabase({
    url: server.url(TEMPLATE),
    max: 2,
    applicationName: 'bench',
    role: null,
    statementTimeoutMs: 0,
    connectTimeoutMs: 5_000,
  })
  await migrateUp(template)
  await template.close()
  return {
    makeDatabase: async (name) => {
      await run(server.url(), `CREATE DATABASE ${name} TEMPLATE ${TEMPLATE}`)
      await run(server.url(name), 'CHECKPOINT')
      return server.url(name)
    },
    close: () => server.close(),
  }
}

/** One statement on a connection of its own. */
export async function run(url: string, sql: string, values: readonly unknown[] = []): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await client.query(sql, [...values])
  } finally {
    await client.end()
  }
}
