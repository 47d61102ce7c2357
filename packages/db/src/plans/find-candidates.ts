import type pg from 'pg'
import { ENTRY_VERSION } from '../acts/entry-version.js'
import type { PlanAction, PlanFilter } from './plan-types.js'

export type Candidate = { readonly id: string; readonly delivery: string; readonly version: string }

/** A settled entry is only looked at where its reason is asked for: nobody means it by "what failed". */
const STATES: Readonly<Record<PlanAction['kind'], readonly string[]>> = {
  redrive: ['dead_lettered', 'uncertain'],
  settle: ['uncertain'],
  cancel: ['pending'],
}

/**
 * The entries that a plan is about, oldest first, each with how it stands. No index serves this, on purpose: one over
 * state or end would have to be written at every close. It reads the table once for a person who waits.
 */
export async function findCandidates(
  client: pg.PoolClient,
  { kind }: PlanAction,
  { destination, reasons, since, until, limit }: PlanFilter,
): Promise<{ readonly entries: readonly Candidate[]; readonly cut: boolean }> {
  const states = kind === 'redrive' && reasons?.includes('not_delivered') ? [...STATES[kind], 'settled'] : STATES[kind]
  const { rows } = await client.query<Candidate>(
    `SELECT e.id, e.delivery, ${ENTRY_VERSION} AS version FROM counterfoil.entry e
     WHERE e.destination = $1 AND e.state = ANY ($2) AND ($3::text[] IS NULL OR e.reason = ANY ($3))
       AND ($4::timestamptz IS NULL OR coalesce(e.closed_at, e.created_at) >= $4)
       AND ($5::timestamptz IS NULL OR coalesce(e.closed_at, e.created_at) < $5)
     ORDER BY e.created_at, e.id LIMIT $6`,
    [destination, states, reasons, toDate(since), toDate(until), limit + 1],
  )
  return { entries: rows.slice(0, limit), cut: rows.length > limit }
}

function toDate(epochMs: number | null): Date | null {
  return epochMs === null ? null : new Date(epochMs)
}
