import type { Database } from './database.js'

/**
 * Runs `work` while no other process of the fleet runs work of this name: an advisory lock that ends with its session.
 *
 * @returns false when somebody else is at it; then nothing ran
 * @throws what `work` throws, or a `pg` error
 */
export async function runExclusively(database: Database, name: string, work: () => Promise<void>): Promise<boolean> {
  const client = await database.pool.connect()
  let isClean = false
  try {
    const lock = [`counterfoil ${name}`]
    const { rows } = await client.query('SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS taken', lock)
    if (rows[0]?.taken === true) {
      try {
        await work()
      } finally {
        await client.query('SELECT pg_advisory_unlock(hashtextextended($1, 0))', lock)
      }
    }
    isClean = true
    return rows[0]?.taken === true
  } finally {
    // A session that failed may still hold the lock: it is closed, not kept.
    client.release(!isClean)
  }
}
