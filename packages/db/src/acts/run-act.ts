import type pg from 'pg'
import type { Database } from '../connection/database.js'

/**
 * One act is one transaction: whoever locks the subject first acts, the second one sees what became of it.
 * What `work` returns decides: a `kind` that starts an act commits, anything else leaves no trace.
 */
export async function runAct<Result extends { readonly kind: string }>(
  database: Database,
  work: (client: pg.PoolClient) => Promise<Result>,
  isDone: (result: Result) => boolean,
): Promise<Result> {
  const client = await database.pool.connect()
  let broken = true
  try {
    await client.query('BEGIN ISOLATION LEVEL READ COMMITTED')
    const result = await work(client)
    await client.query(isDone(result) ? 'COMMIT' : 'ROLLBACK')
    broken = false
    return result
  } finally {
    // A session in an unknown state ends, and its transaction with it.
    client.release(broken)
  }
}
