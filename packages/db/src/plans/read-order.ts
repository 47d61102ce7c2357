import type pg from 'pg'

/**
 * What a run is told to do: `stopped` by a person, or `superseded`, since another run has begun. That one holds the lock
 * now, and this one must not go on.
 */
export async function readOrder(
  client: Pick<pg.ClientBase, 'query'>,
  plan: string,
  run: number,
): Promise<'stopped' | 'superseded' | null> {
  const { rows } = await client.query<{ superseded: boolean; stopped: boolean }>(
    `SELECT coalesce(bool_or(kind = 'run'), false) AS superseded, coalesce(bool_or(kind = 'stop'), false) AS stopped
     FROM counterfoil.plan_event WHERE plan = $1 AND number > $2`,
    [plan, run],
  )
  if (rows[0]?.superseded === true) return 'superseded'
  return rows[0]?.stopped === true ? 'stopped' : null
}
