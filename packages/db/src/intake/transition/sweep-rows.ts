import { judgeConditionalUpdate } from '@counterfoil/core'
import type { Knex } from 'knex'
import type { ClientBase } from 'pg'
import { bound } from './bound.js'
import { type ConditionalDecision, freezeActions } from './decide-conditional.js'
import { insertSweepDeliveries } from './insert-sweep-deliveries.js'
import { type LockedRow, lockSubjects } from './lock-subjects.js'
import type { SubjectTable } from './subject-table.js'
import { writeDecisions } from './write-decisions.js'

export type SweptRows = {
  readonly applied: number
  readonly skipped: number
  readonly broken: number
  readonly destinations: readonly string[]
}

/**
 * Applies a conditional update to overdue rows inside the open transaction, by the push's own judge: same outcome, same
 * entries under the same keys, whichever comes first. Rows that a stranger holds are left for the next time.
 * `trx`: where the owner's `onApplied` runs; only given when there is one.
 */
export async function sweepRows(
  client: ClientBase,
  table: SubjectTable,
  ids: readonly string[],
  options: { readonly newId: () => string; readonly trx: Knex.Transaction | null; readonly timeoutMs: number },
): Promise<SweptRows> {
  const { transition } = table
  const locked = await lockSubjects(client, table, ids, false)
  const overdue = [...locked.rows.values()].filter(
    (row) => judgeConditionalUpdate(row, transition.from, null).outcome === 'applied',
  )
  const deliveries = await insertSweepDeliveries(
    client,
    transition.name,
    overdue.map(({ subject, dueMs }) => ({ subject, dueMs: dueMs ?? 0 })),
    options.newId,
  )
  const decisions = overdue.map((row) => decide(table, row, deliveries.get(row.subject) ?? '', options.newId))
  const sound = decisions.filter((decision) => decision.broken === null)
  const written = await writeDecisions(client, table, 'sweep', sound)
  if (options.trx !== null && transition.onApplied !== undefined) {
    for (const { subject, row } of sound) {
      await bound(transition.onApplied(options.trx, subject, row?.row ?? {}), options.timeoutMs, transition.name)
    }
  }
  return {
    applied: sound.length,
    skipped: locked.skipped.size,
    broken: decisions.length - sound.length,
    destinations: [...new Set(written.map(({ entry }) => entry.destination))],
  }
}

function decide(table: SubjectTable, row: LockedRow, deliveryUuid: string, newId: () => string): ConditionalDecision {
  return {
    ask: { deliveryUuid, subject: row.subject, id: row.subject, guardMs: null, notDue: 'discard' },
    handling: { kind: 'claim', outcome: 'applied' },
    outcome: 'applied',
    subject: row.subject,
    row,
    ...freezeActions(table.transition, deliveryUuid, row, newId),
  }
}
