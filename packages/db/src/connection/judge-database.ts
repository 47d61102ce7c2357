import type { DatabaseFacts } from './read-database-facts.js'

const OLDEST_VERSION = 150_000

/** Every reason not to start on this database, each a sentence with what to do next. Empty: it is fit. */
export function judgeDatabase(facts: DatabaseFacts): readonly string[] {
  if (facts.kind === 'unreachable') {
    return [`The database can't be reached: ${facts.cause}. Check COUNTERFOIL_DATABASE_URL and that PostgreSQL is up.`]
  }
  const problems: string[] = []
  if (facts.version < OLDEST_VERSION) {
    problems.push(
      `PostgreSQL ${Math.trunc(facts.version / 10_000)} is too old: version 15 or later is needed. Upgrade the server.`,
    )
  }
  if (facts.readOnly) {
    problems.push('The database is read-only (a standby, or default_transaction_read_only). Point at the primary.')
  }
  // `local` is durable on this server; only `off` can lose a commit that was answered (I1).
  if (facts.synchronousCommit === 'off') {
    problems.push('synchronous_commit is off: an acknowledged push could be lost (I1). Set it to on for this role.')
  }
  if (facts.defaultIsolation !== 'read committed') {
    problems.push(
      `The default isolation is ${facts.defaultIsolation}: claims need READ COMMITTED. Set default_transaction_isolation for this role.`,
    )
  }
  if (facts.encoding !== 'UTF8') {
    problems.push(`The database is encoded in ${facts.encoding}: UTF8 is needed. Create it with ENCODING 'UTF8'.`)
  }
  return [...problems, ...judgeMigrations(facts.migrations)]
}

function judgeMigrations(status: {
  readonly pending: readonly string[]
  readonly unknown: readonly string[]
}): string[] {
  const problems: string[] = []
  if (status.unknown.length > 0) {
    problems.push(
      `The schema is newer than this program (it has ${status.unknown.join(', ')}). Run the program that made it.`,
    )
  }
  if (status.pending.length > 0) {
    problems.push(
      `The schema is older than this program (${status.pending.join(', ')} missing). Run \`counterfoil migrate up\`.`,
    )
  }
  return problems
}
