import type { Database } from '../connection/index.js'
import { cleanText } from './clean-text.js'
import type { PausedReason } from './outbox-types.js'

/**
 * Stops leasing for a destination, whatever paused it before. What is already on its way is not called back.
 *
 * @param pause.forMs `null`: until somebody resumes it
 */
export async function pauseDestination(
  database: Database,
  destination: string,
  pause: { readonly reason: PausedReason; readonly forMs: number | null; readonly detail: string | null },
): Promise<void> {
  await database.pool.query(
    `INSERT INTO counterfoil.destination_state (destination, paused_reason, paused_at, paused_until, detail)
     VALUES ($1, $2, clock_timestamp(), clock_timestamp() + $3::float8 * interval '1 millisecond', $4)
     ON CONFLICT (destination) DO UPDATE
        SET paused_reason = excluded.paused_reason, paused_at = excluded.paused_at,
            paused_until = excluded.paused_until, detail = excluded.detail`,
    [destination, pause.reason, pause.forMs, cleanText(pause.detail)],
  )
}
