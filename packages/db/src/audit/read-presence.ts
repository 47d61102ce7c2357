import type { Presence } from '@counterfoil/core'
import type { Database } from '../connection/database.js'
import { toMs } from './read-snapshot.js'

/** Each id is an index lookup or three; ids that nothing is on record about come back without a row. */
const READ_PRESENCE = `
SELECT i.id, d.claimed_at
  FROM unnest($2::text[]) AS i (id)
  LEFT JOIN counterfoil.delivery d ON d.delivery_id = i.id AND d.source = $1
 WHERE d.id IS NOT NULL
    OR EXISTS (SELECT FROM counterfoil.unclaimed u WHERE u.delivery_id = i.id AND u.source = $1)
    OR EXISTS (SELECT FROM counterfoil.refused_observation r WHERE r.delivery_id = i.id AND r.source = $1)`

/** What is here of these deliveries of a source; what is not in the map left no trace. */
export async function readPresence(
  database: Database,
  source: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Presence>> {
  // PostgreSQL text holds no NUL, so an id with one can't be here.
  const askable = ids.filter((id) => !id.includes('\0'))
  const { rows } = await database.pool.query<{ id: string; claimed_at: Date | null }>(READ_PRESENCE, [source, askable])
  return new Map(
    rows.map(({ id, claimed_at: at }): [string, Presence] => [
      id,
      at === null ? { kind: 'never_claimed' } : { kind: 'claimed', claimedAt: toMs(at) },
    ]),
  )
}
