import type { AttemptOnRecord, LateOutcomeOnRecord } from '@counterfoil/core'
import type pg from 'pg'
import { type LookupsOfEntry, readLookups } from './read-lookups.js'
import { groupBy, toMs, toMsOrNull } from './read-snapshot.js'

export type AttemptsOfEntry = LookupsOfEntry & {
  readonly attempts: readonly AttemptOnRecord[]
  readonly lateOutcomes: readonly LateOutcomeOnRecord[]
}

type AttemptRow = {
  entry: string
  number: number
  worker: string
  opened_at: Date
  closed_at: Date
  outcome: AttemptOnRecord['outcome']
  status: number | null
  repeat: boolean
  cause: string | null
  detail: string | null
  duration_ms: number | null
  key_sent: string | null
  digest_sent: string | null
  decision: string
  decision_reason: string | null
  next_due_at: Date | null
}

type LateRow = Pick<
  AttemptRow,
  'entry' | 'number' | 'worker' | 'outcome' | 'status' | 'repeat' | 'cause' | 'detail'
> & {
  recorded_at: Date
}

/**
 * Every attempt of these entries with what came late and what was asked about them. Not cut: a verdict that left out an old doubt would be wrong,
 * and age and budget bound the number.
 */
export async function readAttempts(
  client: pg.PoolClient,
  entries: readonly string[],
): Promise<(entry: string) => AttemptsOfEntry> {
  const attempts = await client.query<AttemptRow>(
    `SELECT entry, number, worker, opened_at, closed_at, outcome, status, repeat, cause, detail, duration_ms, key_sent,
            encode(digest_sent, 'hex') AS digest_sent, decision, decision_reason, next_due_at
     FROM counterfoil.attempt WHERE entry = ANY($1::uuid[]) ORDER BY entry, number`,
    [entries],
  )
  const late = await client.query<LateRow>(
    `SELECT entry, number, worker, outcome, status, repeat, cause, detail, recorded_at
     FROM counterfoil.late_outcome WHERE entry = ANY($1::uuid[]) ORDER BY entry, recorded_at`,
    [entries],
  )
  const lookups = await readLookups(client, entries)
  const attemptsBy = groupBy(attempts.rows, (row) => row.entry)
  const lateBy = groupBy(late.rows, (row) => row.entry)
  return (entry) => ({
    attempts: (attemptsBy.get(entry) ?? []).map(toAttempt),
    lateOutcomes: (lateBy.get(entry) ?? []).map(toLate),
    ...lookups(entry),
  })
}

function toAttempt(row: AttemptRow): AttemptOnRecord {
  return {
    number: row.number,
    worker: row.worker,
    openedAt: toMs(row.opened_at),
    closedAt: toMs(row.closed_at),
    outcome: row.outcome,
    status: row.status,
    repeat: row.repeat,
    cause: row.cause,
    detail: row.detail,
    durationMs: row.duration_ms,
    keySent: row.key_sent,
    digestSent: row.digest_sent,
    decision: row.decision,
    decisionReason: row.decision_reason,
    nextDueAt: toMsOrNull(row.next_due_at),
  }
}

function toLate(row: LateRow): LateOutcomeOnRecord {
  const { number, worker, outcome, status, repeat, cause, detail } = row
  return { number, worker, outcome, status, repeat, cause, detail, recordedAt: toMs(row.recorded_at) }
}
