import knexFactory, { type Knex } from 'knex'
import type { Database } from '../connection/database.js'
import { holdMigrationLock } from './migration-lock.js'
import { type MigrationFile, readMigrationSql, readMigrations } from './read-migrations.js'

export type MigrateOptions = {
  /** Directory of the `.sql` files; the repository's own by default. */
  readonly directory?: string
  /** How long to wait for another migrator, ms. */
  readonly waitMs?: number
}

/**
 * Brings the schema to what this program knows; each file is a transaction of its own.
 * Returns the names applied by this call, in order; an empty list when there was nothing to do.
 * Throws when the database is unreachable, a file fails (it and what follows is not applied), or the schema has
 * steps that this program doesn't know.
 */
export async function migrateUp(database: Database, options: MigrateOptions = {}): Promise<{ applied: string[] }> {
  const migrations = await readMigrations(options.directory)
  return holdMigrationLock(database, options.waitMs ?? 60_000, async () => {
    await database.pool.query('CREATE SCHEMA IF NOT EXISTS counterfoil')
    const knex = openMigrationKnex(database, migrations)
    try {
      // The advisory lock is ours, so a lock row can only be what a killed migrator left behind.
      await knex.migrate.forceFreeMigrationsLock()
      return { applied: await applyEach(knex) }
    } finally {
      await knex.destroy()
    }
  })
}

/** One by one: `latest` would put all of them in one transaction, and a failure would undo the sound ones too. */
async function applyEach(knex: Knex): Promise<string[]> {
  const applied: string[] = []
  for (;;) {
    const [, names] = (await knex.migrate.up()) as [number, string[]]
    if (names.length === 0) return applied
    applied.push(...names)
  }
}

/** Knex on one connection of its own: a long step must not end at the pool's `statement_timeout`. */
function openMigrationKnex(database: Database, migrations: readonly MigrationFile[]): Knex {
  return knexFactory({
    client: 'pg',
    connection: {
      connectionString: database.options.url,
      application_name: `${database.options.applicationName}-migrate`,
      options: '-c TimeZone=UTC -c statement_timeout=0',
      connectionTimeoutMillis: database.options.connectTimeoutMs,
    },
    pool: { min: 0, max: 1 },
    // It would print the whole file; what failed is thrown.
    log: SILENT,
    migrations: { schemaName: 'counterfoil', tableName: 'migration', migrationSource: createSource(migrations) },
  })
}

function createSource(migrations: readonly MigrationFile[]): Knex.MigrationSource<MigrationFile> {
  return {
    getMigrations: async () => [...migrations],
    getMigrationName: (migration) => migration.name,
    getMigration: async (migration) => {
      const sql = await readMigrationSql(migration)
      return {
        up: (knex) => runStep(knex, migration.name, sql),
        down: () => Promise.reject(new Error('migrations go forward only')),
      }
    },
  }
}

async function runStep(knex: Knex, name: string, sql: string): Promise<void> {
  try {
    await knex.schema.raw(sql)
  } catch (error) {
    // Knex puts the whole statement in front of what the server said.
    const message = error instanceof Error ? error.message : String(error)
    const said = message.startsWith(sql) ? message.slice(sql.length + ' - '.length) : message
    throw new Error(`migration ${name} failed and was undone: ${said}`, { cause: error })
  }
}

const SILENT = { warn: () => {}, error: () => {}, deprecate: () => {}, debug: () => {} }
