import { type MigrationStatus, readMigrationStatus } from '../migrate/read-migration-status.js'
import { classifyFailure } from './classify-failure.js'
import type { Database } from './database.js'

/** What the program must know of its database before it takes responsibility for anything. */
export type DatabaseFacts =
  | { readonly kind: 'unreachable'; readonly cause: string }
  | {
      readonly kind: 'reached'
      /** `server_version_num`, e.g. 150004. */
      readonly version: number
      /** A standby, or `default_transaction_read_only`. */
      readonly readOnly: boolean
      readonly synchronousCommit: string
      readonly defaultIsolation: string
      readonly encoding: string
      readonly migrations: Pick<MigrationStatus, 'pending' | 'unknown'>
    }

type FactsRow = { version: number; read_only: boolean; commit: string; isolation: string; encoding: string }

/** Reads the facts without judging them. Never throws for a database that is down or refuses the login. */
export async function readDatabaseFacts(database: Database): Promise<DatabaseFacts> {
  try {
    const { rows } = await database.pool.query<FactsRow>(
      `SELECT current_setting('server_version_num')::int AS version,
              pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' AS read_only,
              current_setting('synchronous_commit') AS commit,
              current_setting('default_transaction_isolation') AS isolation,
              current_setting('server_encoding') AS encoding`,
    )
    const row = rows[0]
    if (row === undefined) return { kind: 'unreachable', cause: 'it answered without a row' }
    return {
      kind: 'reached',
      version: row.version,
      readOnly: row.read_only,
      synchronousCommit: row.commit,
      defaultIsolation: row.isolation,
      encoding: row.encoding,
      migrations: await readMigrationStatus(database),
    }
  } catch (error) {
    return { kind: 'unreachable', cause: classifyFailure(error).cause }
  }
}
