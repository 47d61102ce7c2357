import type { RowFacts } from '@counterfoil/core'
import type { ClientBase } from 'pg'
import type { SubjectTable } from './subject-table.js'

/** A locked row: what is judged, and when by the database clock. */
export type LockedRow = RowFacts & { readonly judgedAt: string }

export type LockedSubjects = {
  /** By the id as the table writes it. */
  readonly rows: ReadonlyMap<string, LockedRow>
  /** Ids of rows that a stranger holds; only where the call doesn't wait. */
  readonly skipped: ReadonlySet<string>
}

export type FactsRow = {
  subject: string
  state: string | null
  due_ms: number | null
  is_due: boolean
  remaining_ms: number | null
  judged_at: string
} & Readonly<Record<`c${number}`, unknown>>

/**
 * Locks rows in the order of their ids and reads the clock after each lock: `now()` of the transaction is older than the
 * wait (I8). Without `waits`, rows that a stranger holds are left out and named in `skipped`.
 */
export async function lockSubjects(
  client: ClientBase,
  table: SubjectTable,
  ids: readonly string[],
  waits: boolean,
): Promise<LockedSubjects> {
  if (ids.length === 0) return { rows: new Map(), skipped: new Set() }
  const { rows } = await client.query<FactsRow>({ text: table.lockSql(waits), values: [ids] })
  const locked = new Map(rows.map((row) => [row.subject, toLockedRow(row, table.columns)]))
  const absent = ids.filter((id) => !locked.has(id))
  if (waits || absent.length === 0) return { rows: locked, skipped: new Set() }
  const standing = await client.query<{ subject: string }>({ text: table.existsSql, values: [absent] })
  return { rows: locked, skipped: new Set(standing.rows.map((row) => row.subject)) }
}

function toLockedRow(row: FactsRow, columns: readonly string[]): LockedRow {
  return {
    subject: row.subject,
    state: row.state,
    // `infinity` is a deadline that never comes.
    dueMs: row.due_ms !== null && Number.isFinite(row.due_ms) ? row.due_ms : null,
    isDue: row.is_due,
    remainingMs: row.remaining_ms ?? 0,
    row: Object.fromEntries(columns.map((column, index) => [column, row[`c${index}`]])),
    judgedAt: row.judged_at,
  }
}
