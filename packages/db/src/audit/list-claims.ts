import type { Database } from '../connection/database.js'
import { toMs } from './read-snapshot.js'
import { lowerBound, upperBound } from './uuid-bounds.js'

export type ClaimOfSource = { readonly deliveryId: string; readonly claimedAt: number }

/** Claims looked at by one call, whatever their source. */
const SCAN = 20_000

/** By keyset over time-ordered ids, oldest first. The scan's last row tells where to go on, whether it matched or not. */
const LIST_CLAIMS = `
WITH s AS MATERIALIZED (
  SELECT id, source, delivery_id, claimed_at FROM counterfoil.delivery
   WHERE id > $1::uuid AND id <= $2::uuid ORDER BY id LIMIT ${SCAN})
SELECT id, CASE WHEN source = $3 AND claimed_at >= $4 AND claimed_at <= $5 THEN delivery_id END AS delivery_id, claimed_at
  FROM s
 WHERE (source = $3 AND claimed_at >= $4 AND claimed_at <= $5) OR id = (SELECT id FROM s ORDER BY id DESC LIMIT 1)
 ORDER BY id`

/**
 * A page of what a source's pushes have claimed between two instants, epoch ms, both included. A page may be empty and
 * still have a `next`.
 */
export async function listClaims(
  database: Database,
  window: { readonly source: string; readonly since: number; readonly until: number },
  after: string | null,
): Promise<{ readonly claims: readonly ClaimOfSource[]; readonly next: string | null }> {
  const { source, since, until } = window
  const values = [after ?? lowerBound(since), upperBound(until), source, new Date(since), new Date(until)]
  const { rows } = await database.pool.query<{ id: string; delivery_id: string | null; claimed_at: Date }>(
    LIST_CLAIMS,
    values,
  )
  return {
    claims: rows.flatMap(({ delivery_id: id, claimed_at: at }) =>
      id === null ? [] : [{ deliveryId: id, claimedAt: toMs(at) }],
    ),
    next: rows.at(-1)?.id ?? null,
  }
}
