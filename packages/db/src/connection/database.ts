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
   * For a pool whose statements only look rows up by key: no plan of theirs may scan a table, and plans are cached. One
   * made while a table was a page long would otherwise scan it from end to end, and go on doing so when the table has a
   * million rows (measured on 100k deliveries: 450 ms to recognise one duplicate, 27 s for 256). Other pools plan each
   * statement anew, by the size that its tables have by then.
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
  // A scan that no index can replace is only priced out of reach, and compiling a plan of that price takes longer than it.
  if (options.onlyByKey === true) settings.push('-c enable_seqscan=off', '-c jit=off')
  else settings.push('-c plan_cache_mode=force_custom_plan')
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
