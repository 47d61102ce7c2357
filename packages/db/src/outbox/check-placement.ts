import type { Database } from '../connection/index.js'
import type { PlacementProblem } from './outbox-types.js'

/** One statement, so one snapshot: an entry that moves meanwhile is seen in one place. */
const CHECK_PLACEMENT = `
SELECT coalesce(e.id, d.entry, l.entry) AS entry,
       CASE WHEN e.id IS NULL THEN 'unknown_entry'
            WHEN d.entry IS NOT NULL AND l.entry IS NOT NULL THEN 'due_and_leased'
            WHEN e.state = 'pending' THEN 'nowhere'
            WHEN d.entry IS NOT NULL THEN 'final_but_due'
            ELSE 'final_but_leased' END AS kind
  FROM counterfoil.entry e
  FULL JOIN counterfoil.due d ON d.entry = e.id
  FULL JOIN counterfoil.lease l ON l.entry = coalesce(e.id, d.entry)
 WHERE e.id IS NULL
    OR (d.entry IS NOT NULL AND l.entry IS NOT NULL)
    OR (e.state = 'pending') <> (d.entry IS NOT NULL OR l.entry IS NOT NULL)
 LIMIT $1`

/** More than this many is one problem, not many. */
const MAX_PROBLEMS = 1000

/** Proves I12 for entries: each pending one is in exactly one of `due` and `lease`, and no other is in either. */
export async function checkPlacement(database: Database): Promise<readonly PlacementProblem[]> {
  const { rows } = await database.pool.query<{ entry: string; kind: PlacementProblem['kind'] }>(CHECK_PLACEMENT, [
    MAX_PROBLEMS,
  ])
  return rows.map((row) => ({ entryId: row.entry, kind: row.kind }))
}
