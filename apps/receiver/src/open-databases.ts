import type { SourceContract } from '@counterfoil/core'
import { type Database, openDatabase } from '@counterfoil/db'
import type { ReceiverSettings } from './receiver-settings.js'

type DatabaseSettings = Pick<ReceiverSettings, 'databaseUrl' | 'databasePool' | 'instance'>

/** A statement may take this much longer than the longest ack deadline, and its answer this much longer than that. */
const STATEMENT_SLACK_MS = 5000
const ANSWER_SLACK_MS = 2000
const CONNECT_TIMEOUT_MS = 5000
/** Clock and probes have connections of their own: a full pool must not read as a database that is away. */
const PROBE_CONNECTIONS = 2
/** They would rather fail than wait. */
const PROBE_STATEMENT_MS = 2000

/** The two ways to the database: one for pushes, and a narrow one for clock and probes. Connects to nothing yet. */
export function openDatabases(
  settings: DatabaseSettings,
  sources: readonly SourceContract[],
): { readonly database: Database; readonly probes: Database } {
  const longestDeadlineMs = Math.max(0, ...sources.map((source) => source.ack.deadlineMs))
  return {
    database: openPool(settings, 'receiver', settings.databasePool, longestDeadlineMs + STATEMENT_SLACK_MS, true),
    probes: openPool(settings, 'receiver probes', PROBE_CONNECTIONS, PROBE_STATEMENT_MS, false),
  }
}

/** A half-open connection tells nothing, so silence counts as lost soon after the server itself would have given up. */
function openPool(
  settings: DatabaseSettings,
  name: string,
  max: number,
  statementTimeoutMs: number,
  onlyByKey: boolean,
): Database {
  return openDatabase({
    url: settings.databaseUrl,
    max,
    applicationName: `counterfoil ${name} ${settings.instance}`,
    role: null,
    onlyByKey,
    statementTimeoutMs,
    answerTimeoutMs: statementTimeoutMs + ANSWER_SLACK_MS,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
  })
}
