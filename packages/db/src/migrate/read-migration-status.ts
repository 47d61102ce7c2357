import type { Database } from '../connection/database.js'
import { readMigrations } from './read-migrations.js'

/** The schema against this program. `unknown`: applied by a newer program. Each in order of their names. */
export type MigrationStatus = {
  readonly applied: readonly string[]
  readonly pending: readonly string[]
  readonly unknown: readonly string[]
}

/** Reads what is applied; a database that was never migrated has everything pending. */
export async function readMigrationStatus(
  database: Database,
  options: { readonly directory?: string } = {},
): Promise<MigrationStatus> {
  const known = (await readMigrations(options.directory)).map((migration) => migration.name)
  const present = await readApplied(database)
  return {
    applied: known.filter((name) => present.has(name)),
    pending: known.filter((name) => !present.has(name)),
    unknown: [...present].filter((name) => !known.includes(name)).sort(),
  }
}

async function readApplied(database: Database): Promise<ReadonlySet<string>> {
  const { rows: tables } = await database.pool.query<{ present: boolean }>(
    `SELECT to_regclass('counterfoil.migration') IS NOT NULL AS present`,
  )
  if (tables[0]?.present !== true) return new Set()
  const { rows } = await database.pool.query<{ name: string }>('SELECT name FROM counterfoil.migration')
  return new Set(rows.map((row) => row.name))
}
