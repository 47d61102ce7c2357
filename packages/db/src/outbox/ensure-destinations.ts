import type { Database } from '../connection/index.js'

/** Gives every configured destination its row of flow control. Leaves existing ones as they are. */
export async function ensureDestinations(database: Database, names: readonly string[]): Promise<void> {
  await database.pool.query(
    `INSERT INTO counterfoil.destination_state (destination)
     SELECT name FROM unnest($1::text[]) AS name ORDER BY name
     ON CONFLICT (destination) DO NOTHING`,
    [names],
  )
}
