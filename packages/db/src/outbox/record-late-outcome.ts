import { classifyFailure, type Database } from '../connection/index.js'
import { applyLateOutcomes } from './apply-late-outcomes.js'

import type { AttemptClose } from './outbox-types.js'
import { type OutcomeColumns, outcomeColumns } from './outcome-columns.js'

const RECORD_LATE_OUTCOME = `
INSERT INTO counterfoil.late_outcome (entry, number, token, worker, outcome, status, repeat, cause, detail)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
ON CONFLICT (entry, number, token) DO NOTHING`

/**
 * Keeps the outcome of an attempt whose lease was lost (I5), and applies it where nobody holds the entry: to an
 * uncertain or pending entry it is the definite answer. Where the entry is leased again, whoever closes that lease is
 * told (`hasLateOutcome`). Repeating it is harmless.
 */
export async function recordLateOutcome(database: Database, close: AttemptClose): Promise<'kept' | 'applied'> {
  const columns = outcomeColumns(close.outcome, close.detail)
  try {
    await insert(database, close, columns)
  } catch (error) {
    if (classifyFailure(error).kind !== 'data') throw error
    await insert(database, close, { ...columns, detail: null })
  }
  return applyLateOutcomes(database, close.leased.id)
}

async function insert(database: Database, { leased, worker }: AttemptClose, columns: OutcomeColumns): Promise<void> {
  const { outcome, status, repeat, cause, detail } = columns
  await database.pool.query(RECORD_LATE_OUTCOME, [
    leased.id,
    leased.lease.attempt,
    leased.lease.token,
    worker,
    outcome,
    status,
    repeat,
    cause,
    detail,
  ])
}
