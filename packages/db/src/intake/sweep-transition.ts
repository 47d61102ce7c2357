import { randomFillSync } from 'node:crypto'
import { type ConditionalUpdate, createUuidV7Generator } from '@counterfoil/core'
import type { PoolClient } from 'pg'
import type { Database } from '../connection/database.js'
import { useClient } from '../connection/use-client.js'
import type { SweepResult } from './intake-options.js'
import { openTransaction } from './transition/open-transaction.js'
import { readSubjectTable, type SubjectTable } from './transition/subject-table.js'
import { type SweptRows, sweepRows } from './transition/sweep-rows.js'

const TIMEOUT_MS = 5_000
const CLIENT_BOUND_MS = 15_000
const DEFAULT_BATCH = 100
const DEFAULT_GRACE_MS = 0
/** Pages to look at in one call when those before hold only rows that can't be changed now. */
const MOST_PAGES = 10

/**
 * Applies a conditional update to rows that no push came for, `sweep.graceMs` after their deadline by the database clock.
 * One batch in one call; `more` says to call again at once. Needs nothing but the database (I7). Rows are locked with
 * SKIP LOCKED, so any number of sweeps may run. Throws when the database is away.
 */
export async function sweepTransition(
  database: Database,
  transition: ConditionalUpdate,
  _options: { readonly instance: string },
): Promise<SweepResult> {
  const newId = createUuidV7Generator({ now: Date.now, fillRandom: (pool) => void randomFillSync(pool) })
  const batch = transition.sweep?.batch ?? DEFAULT_BATCH
  const total = { applied: 0, skipped: 0, failed: 0, destinations: new Set<string>() }
  let more = false
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const ids = await lend(database, (client) => findOverdue(client, transition, batch, page * batch))
    more = ids.length === batch
    for (const group of transition.onApplied === undefined ? [ids] : ids.map((id) => [id])) {
      await sweepGroup(database, transition, group, newId, total)
    }
    if (total.applied > 0 || !more) break
  }
  const { applied, skipped, failed, destinations } = total
  return { applied, skipped, failed, more: more && applied > 0, destinations: [...destinations] }
}

type Total = { applied: number; skipped: number; failed: number; destinations: Set<string> }

async function sweepGroup(
  database: Database,
  transition: ConditionalUpdate,
  ids: readonly string[],
  newId: () => string,
  total: Total,
): Promise<void> {
  if (ids.length === 0) return
  const result = await useClient(database, TIMEOUT_MS + CLIENT_BOUND_MS, async (client) => {
    const table = await readSubjectTable(client, transition)
    return sweepInTransaction(database, client, table, ids, newId)
  })
  if (result.kind === 'done') {
    total.applied += result.value.applied
    total.skipped += result.value.skipped
    total.failed += result.value.broken
    for (const destination of result.value.destinations) total.destinations.add(destination)
    return
  }
  if (result.failure.kind === 'connection' || result.failure.kind === 'read_only') throw result.error
  // One row spoils it for all: find it by trying each.
  if (ids.length > 1) for (const id of ids) await sweepGroup(database, transition, [id], newId, total)
  else total.failed += 1
}

async function sweepInTransaction(
  database: Database,
  client: PoolClient,
  table: SubjectTable,
  ids: readonly string[],
  newId: () => string,
): Promise<SweptRows> {
  const transaction = await openTransaction(client, database.knex, TIMEOUT_MS)
  try {
    const swept = await sweepRows(client, table, ids, { newId, trx: transaction.trx, timeoutMs: TIMEOUT_MS })
    await transaction.commit()
    return swept
  } catch (error) {
    await transaction.rollback().catch(() => {})
    throw error
  }
}

async function findOverdue(
  client: PoolClient,
  transition: ConditionalUpdate,
  limit: number,
  offset: number,
): Promise<readonly string[]> {
  const table = await readSubjectTable(client, transition)
  const { rows } = await client.query<{ subject: string }>({
    text: table.overdueSql,
    values: [transition.sweep?.graceMs ?? DEFAULT_GRACE_MS, limit, offset, transition.from],
  })
  return rows.map((row) => row.subject)
}

async function lend<T>(database: Database, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const result = await useClient(database, CLIENT_BOUND_MS, work)
  if (result.kind === 'failed') throw result.error
  return result.value
}
