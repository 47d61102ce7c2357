import { classifyFailure, type Database, openDatabase } from '@counterfoil/db'
import { CommandFailure } from './command-failure.js'
import { EXIT } from './exit-codes.js'
import { openSettings } from './open-settings.js'
import type { Terminal } from './terminal.js'

export type DatabaseUse = {
  /** Group role to act as; `null` keeps the login's own rights. */
  readonly role: 'counterfoil_operator' | null
  /** Upper bound of one statement, ms; a search never runs away with the database. */
  readonly statementTimeoutMs?: number
}

const CONNECT_TIMEOUT_MS = 5_000
const READ_TIMEOUT_MS = 15_000

/** Opens the database for one command, closes it after, and turns what the database throws into a sentence. */
export async function withDatabase<T>(
  terminal: Terminal,
  use: DatabaseUse,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const settings = openSettings(terminal)
  const url = use.role === null ? settings.databaseUrl : (settings.operatorDatabaseUrl ?? settings.databaseUrl)
  const database = openDatabase({
    url,
    max: 4,
    applicationName: 'counterfoil-cli',
    role: use.role,
    statementTimeoutMs: use.statementTimeoutMs ?? READ_TIMEOUT_MS,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
  })
  try {
    return await work(database)
  } catch (error) {
    throw explainDatabaseFailure(error, use)
  } finally {
    await database.close()
  }
}

/** What a database error means for the person at the terminal. Anything unknown stays as it is. */
function explainDatabaseFailure(error: unknown, use: DatabaseUse): unknown {
  if (error instanceof CommandFailure) return error
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
  if (code === '42501' || (code === '22023' && use.role !== null)) return refuseRole(use)
  if (code === '28P01' || code === '28000') {
    const next = 'check the user and password in COUNTERFOIL_DATABASE_URL'
    return new CommandFailure(EXIT.unreachable, 'the database refused the login', next)
  }
  if (code === '3D000') {
    return new CommandFailure(EXIT.unreachable, 'the database does not exist', 'create it, then counterfoil migrate up')
  }
  if (code === '42P01' || code === '3F000') {
    return new CommandFailure(EXIT.unreachable, 'the database has no counterfoil schema', 'counterfoil migrate up')
  }
  if (code === '42703' || code === '42883') {
    const what = 'the schema of the database does not fit this program'
    return new CommandFailure(EXIT.unreachable, what, 'counterfoil migrate status')
  }
  if (code === '57014') {
    return new CommandFailure(EXIT.failure, 'the database took too long', 'narrow the search, or try again later')
  }
  const failure = classifyFailure(error)
  if (failure.kind === 'connection') {
    const next = 'check COUNTERFOIL_DATABASE_URL and that PostgreSQL is up'
    return new CommandFailure(EXIT.unreachable, `the database can't be reached: ${failure.cause}`, next)
  }
  if (failure.kind === 'read_only') {
    return new CommandFailure(
      EXIT.unreachable,
      'the database is read-only',
      'point COUNTERFOIL_DATABASE_URL at the primary',
    )
  }
  return error
}

function refuseRole(use: DatabaseUse): CommandFailure {
  if (use.role === null) {
    return new CommandFailure(
      EXIT.refused,
      'this database login may not read the record',
      'ask for a login that is a member of counterfoil_viewer',
    )
  }
  return new CommandFailure(
    EXIT.refused,
    `this database login may not act: it is not a member of ${use.role}`,
    'set COUNTERFOIL_OPERATOR_DATABASE_URL to a login that is; viewers can only look',
  )
}
