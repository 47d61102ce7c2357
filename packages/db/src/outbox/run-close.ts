import type pg from 'pg'
import type { CloseRow } from './close-row.js'
import { CLOSED_COLUMNS, WRITE_CLOSED } from './close-statement.js'
import { CLOSE_INPUT, encodeCloses } from './encode-closes.js'
import type { CloseResult } from './outbox-types.js'

/**
 * `wanted` filters nothing out. It makes the planner expect one row and look each lease up by its key; expecting the
 * usual 100 it hashed all of `lease`, which under a held snapshot is 200 bytes of dead rows for every send so far.
 *
 * A close that was recorded before (its reply was lost) is known by the token on its attempt. An attempt that a rescuer
 * or a hand-back wrote has the same token, but is not what this worker found out.
 */
export const CLOSE_ATTEMPTS = `
WITH input AS MATERIALIZED (
  SELECT * FROM ${CLOSE_INPUT}
), wanted AS (
  SELECT * FROM input WHERE attempt BETWEEN 1 AND 2147483647
), closed AS (
  DELETE FROM counterfoil.lease l USING wanted i WHERE l.entry = i.entry AND l.token = i.token
  RETURNING ${CLOSED_COLUMNS}
), ${WRITE_CLOSED}
SELECT i.entry, i.token,
       -- As EXISTS this was planned as one hash of the whole table.
       c.entry IS NOT NULL OR coalesce((
         SELECT a.cause IS DISTINCT FROM 'worker_lost' AND a.decision <> 'hand_back'
           FROM counterfoil.attempt a
          WHERE a.entry = i.entry AND a.number = i.attempt AND a.token = i.token), false) AS recorded,
       coalesce(c.late, false) AS late
  FROM input i LEFT JOIN closed c ON c.entry = i.entry AND c.token = i.token`

/** Results by `leaseId`: one entry can be in a batch twice, under a lost lease and under a new one. */
export type CloseResults = ReadonlyMap<string, CloseResult>

export function leaseId(entry: string, token: string): string {
  return `${entry} ${token}`
}

/** Runs one batch of closes as one statement, on a pool or inside a transaction. */
export async function runClose(runner: Pick<pg.ClientBase, 'query'>, rows: readonly CloseRow[]): Promise<CloseResults> {
  const closed = await runner.query<{ entry: string; token: string; recorded: boolean; late: boolean }>({
    name: 'close_attempts',
    text: CLOSE_ATTEMPTS,
    values: encodeCloses(rows),
  })
  return new Map(
    closed.rows.map((row) => [
      leaseId(row.entry, row.token),
      row.recorded ? { kind: 'recorded', hasLateOutcome: row.late } : { kind: 'lease_lost' },
    ]),
  )
}
