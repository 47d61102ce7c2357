import type { Database } from './database.js'

/** The clock that decides (I8), epoch milliseconds. Throws when the database can't be reached. */
export async function readDatabaseClock(database: Database): Promise<number> {
  const { rows } = await database.pool.query<{ now: number }>(
    'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now',
  )
  const now = rows[0]?.now
  if (now === undefined) throw new Error('the database answered its clock without a row')
  return now
}
