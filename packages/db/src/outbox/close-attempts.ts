import type { Database } from '../connection/index.js'
import { closeInHalves } from './close-in-halves.js'
import { type CloseRow, closeRow } from './close-row.js'
import type { AttemptClose, CloseResult } from './outbox-types.js'
import { type CloseResults, leaseId, runClose } from './run-close.js'

/**
 * Records attempts that ended and moves their entries on, in one statement for the whole batch. Only the owner of a
 * lease closes its attempt (I5); repeating a close after a lost reply is recognised and harmless.
 *
 * A close that the database refuses for its data fails nobody else: it is recorded without its detail, and one that
 * can't be recorded even so comes back as `lease_lost`, so that its outcome is kept as a late one.
 *
 * @returns one result per close, in the same order
 * @throws a `pg` error when the database fails (connection, deadlock, shutdown): call again with the same closes
 */
export async function closeAttempts(
  database: Database,
  closes: readonly AttemptClose[],
): Promise<readonly CloseResult[]> {
  if (closes.length === 0) return []
  // One order for every batch: two that touch the same rows wait for each other instead of deadlocking.
  const rows = closes.map(closeRow).sort((a, b) => (a.entry < b.entry ? -1 : a.entry > b.entry ? 1 : 0))
  const results = await closeInHalves(rows, (part) => runClose(database.pool, part))
  const lost = rows.filter((row) => isLost(results, row))
  // The first try of a repeated close may have committed while this one waited for its lock: a new snapshot sees it.
  const again = lost.length === 0 ? results : await closeInHalves(lost, (part) => runClose(database.pool, part))
  return closes.map(({ leased }) => {
    const id = leaseId(leased.id, leased.lease.token)
    return again.get(id) ?? results.get(id) ?? { kind: 'lease_lost' }
  })
}

function isLost(results: CloseResults, row: CloseRow): boolean {
  return results.get(leaseId(row.entry, row.token))?.kind === 'lease_lost'
}
