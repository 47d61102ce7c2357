import type { Database } from '../connection/index.js'
import type { DestinationState, PausedReason } from './outbox-types.js'

type StateRow = {
  destination: string
  paused_reason: PausedReason | null
  paused_at: Date | null
  paused_until: Date | null
  detail: string | null
}

/** Flow control of every destination that has a row, by name. */
export async function readDestinationStates(database: Database): Promise<readonly DestinationState[]> {
  const { rows } = await database.pool.query<StateRow>(
    `SELECT destination, paused_reason, paused_at, paused_until, detail
       FROM counterfoil.destination_state ORDER BY destination`,
  )
  return rows.map((row) => ({
    destination: row.destination,
    paused:
      row.paused_reason === null || row.paused_at === null
        ? null
        : { reason: row.paused_reason, at: row.paused_at, until: row.paused_until, detail: row.detail },
  }))
}
