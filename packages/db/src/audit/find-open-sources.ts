import type { Database } from '../connection/database.js'

/** Names of all sources with deliveries that wait for their time: these can't be removed from configuration. */
export async function findOpenSources(database: Database): Promise<string[]> {
  const { rows } = await database.pool.query<{ source: string }>(
    `SELECT DISTINCT d.source FROM counterfoil.deferred w JOIN counterfoil.delivery d ON d.id = w.delivery
     ORDER BY d.source`,
  )
  return rows.map((row) => row.source)
}
