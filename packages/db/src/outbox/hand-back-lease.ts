import type { Database } from '../connection/index.js'

const HAND_BACK_LEASE = `
WITH returned AS (
  DELETE FROM counterfoil.lease WHERE token = $1 AND worker = $2 RETURNING *
), recorded AS (
  INSERT INTO counterfoil.attempt
    (entry, number, token, worker, opened_at, outcome, cause, decision, next_due_at)
  SELECT entry, attempt, token, worker, opened_at, 'not_sent', 'lease_returned', 'hand_back', clock_timestamp()
    FROM returned
)
INSERT INTO counterfoil.due (entry, destination, due_at, attempts, tries, first_sent_at, uncertain_since)
SELECT entry, destination, clock_timestamp(), attempt, tries, CASE WHEN NOT first_send THEN first_sent_at END,
       uncertain_since
  FROM returned`

/**
 * Gives back what a lease call took and nobody sent: its reply was lost, or the worker stops. The attempts are recorded
 * as not sent and spend no try; the entries are due at once. Harmless when nothing was leased.
 *
 * Only for leases of which provably no byte left, with every entry of the token still open.
 *
 * @returns how many entries went back
 */
export async function handBackLease(
  database: Database,
  { token, worker }: { readonly token: string; readonly worker: string },
): Promise<number> {
  const { rowCount } = await database.pool.query({
    name: 'hand_back_lease',
    text: HAND_BACK_LEASE,
    values: [token, worker],
  })
  return rowCount ?? 0
}
