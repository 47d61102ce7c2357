import type { Database } from '../connection/index.js'

/** Ends any pause. Returns whether the destination was paused. */
export async function resumeDestination(database: Database, destination: string): Promise<boolean> {
  const { rowCount } = await database.pool.query(
    `UPDATE counterfoil.destination_state
        SET paused_reason = NULL, paused_at = NULL, paused_until = NULL, detail = NULL
      WHERE destination = $1 AND paused_reason IS NOT NULL`,
    [destination],
  )
  return rowCount === 1
}
