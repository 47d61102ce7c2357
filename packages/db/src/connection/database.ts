import knexFactory, { type Knex } from 'knex'
import pg from 'pg'

export type DatabaseOptions = {
  readonly url: string
  /** Most connections that this process holds. */
  readonly max: number
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string
  /** Group role to act as, e.g. `counterfoil_viewer`; `null` keeps the login's own rights. */
  readonly role: string | null
  /** Upper bound of one statement, ms; 0 is none. */
  readonly statementTimeoutMs: number
  readonly connectTimeoutMs: number
  /** After this a statement without any answer counts as a lost connection: a half-open socket tells nothing. None by default. */
  readonly answerTimeoutMs?: number
  /**
   * For a pool whose statements only look rows up by key: no plan of theirs may scan a table. Cached plans need this: one
   * made while a table was a page long scans it from end to end, and goes on doing so when the table has a million rows.
   */
  readonly onlyByKey?: boolean
}

/** One process's way to PostgreSQL: `pool` for the hot path, `knex` for migrations and custom transitions. */
export type Database = {
  readonly options: DatabaseOptions
  readonly pool: pg.Pool
  readonly knex: Knex
  readonly close: () => Promise<void>
}

/**
 * Opens a pool without connecting yet. A lost idle connection is dropped, never thrown.
 *
 * `TimeZone` is UTC for every session, so that a timestamp reads the same whatever the server's setting.
 */
export function openDatabase(options: DatabaseOptions): Database {
  const settings = [`-c TimeZone=UTC`, `-c statement_timeout=${options.statementTimeoutMs}`]
  if (options.onlyByKey === true) settings.push('-c enable_seqscan=off')
  if (options.role !== null) settings.push(`-c role=${options.role}`)
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.max,
    application_name: options.applicationName,
    options: settings.join(' '),
    connectionTimeoutMillis: options.connectTimeoutMs,
    keepAlive: true,
    ...(options.answerTimeoutMs === undefined ? {} : { query_timeout: options.answerTimeoutMs }),
  })
  pool.on('error', () => {})
  // A borrowed connection that dies between two statements says so with an event of its own; unheard, it ends the process.
  pool.on('connect', (client) => void client.on('error', () => {}))
  // Knex only builds SQL and drives transactions on connections that we hand to it.
  const knex = knexFactory({ client: 'pg' })
  return { options, pool, knex, close: () => pool.end() }
}
