import type pg from 'pg'
import type { Database } from '../connection/index.js'

/** Runs `work` in one READ COMMITTED transaction on one connection; a throw rolls back and is passed on. */
export async function inTransaction<T>(database: Database, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await database.pool.connect()
  // A connection that dies between two statements says so with an event; without a listener that ends the process.
  const onLost = (): void => {}
  client.on('error', onLost)
  let broken = false
  try {
    await client.query('BEGIN')
    const result = await work(client)
    await client.query('COMMIT')
    return result
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {
      broken = true
    })
    throw error
  } finally {
    client.off('error', onLost)
    client.release(broken)
  }
}
