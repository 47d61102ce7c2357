import type pg from 'pg'

export type EntryEnd = {
  readonly state: 'settled' | 'cancelled'
  readonly reason: string
}

/**
 * Ends an entry by a person's act, out of the queue if it stands there; its counts come along. The caller has locked it
 * and knows that nobody has leased it.
 */
export async function endEntry(client: pg.PoolClient, entryId: string, end: EntryEnd): Promise<void> {
  const { rowCount } = await client.query(
    `WITH taken AS (DELETE FROM counterfoil.due WHERE entry = $1 RETURNING *)
     UPDATE counterfoil.entry e
        SET state = $2, reason = $3, closed_at = clock_timestamp(),
            attempts = coalesce(t.attempts, e.attempts), tries = coalesce(t.tries, e.tries),
            first_sent_at = coalesce(t.first_sent_at, e.first_sent_at),
            uncertain_since = coalesce(t.uncertain_since, e.uncertain_since)
       FROM (SELECT $1::uuid AS id) one LEFT JOIN taken t ON t.entry = one.id
      WHERE e.id = one.id AND (e.state IN ('uncertain', 'dead_lettered', 'settled', 'cancelled')
                            OR (e.state = 'pending' AND t.entry IS NOT NULL))`,
    [entryId, end.state, end.reason],
  )
  if (rowCount !== 1) throw new Error(`entry ${entryId} was locked and changed all the same`)
}
