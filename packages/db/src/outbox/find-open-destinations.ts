import type { Database } from '../connection/index.js'

/** Steps from name to name on `due_next`: a distinct over 100k due rows would read them all. */
const FIND_OPEN_DESTINATIONS = `
WITH RECURSIVE step AS (
  SELECT min(destination) AS destination FROM counterfoil.due
  UNION ALL
  SELECT (SELECT min(d.destination) FROM counterfoil.due d WHERE d.destination > step.destination)
    FROM step WHERE step.destination IS NOT NULL
)
SELECT destination FROM step WHERE destination IS NOT NULL
UNION
SELECT destination FROM counterfoil.lease
ORDER BY destination`

/** Names of all destinations with entries that are due or being sent: these can't be removed from configuration. */
export async function findOpenDestinations(database: Database): Promise<string[]> {
  const { rows } = await database.pool.query<{ destination: string }>(FIND_OPEN_DESTINATIONS)
  return rows.map((row) => row.destination)
}
