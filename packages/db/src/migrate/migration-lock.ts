import { setTimeout as wait } from 'node:timers/promises'
import type { Database } from '../connection/database.js'

/** Any number that nobody else locks: "counterfo" read as hexadecimal digits where they exist. */
const LOCK_ID = 0x0c0fe4f0

const RETRY_EVERY_MS = 100

/**
 * Runs `work` while this session holds the migration lock. The lock is tried, never waited for inside the server: a
 * waiting statement would hold a snapshot that a concurrent index build waits for in turn.
 * A killed migrator frees it with its session. Throws when it stays taken for `waitMs`.
 */
export async function holdMigrationLock<T>(database: Database, waitMs: number, work: () => Promise<T>): Promise<T> {
  const client = await database.pool.connect()
  try {
    const giveUpAt = performance.now() + waitMs
    for (;;) {
      const { rows } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [LOCK_ID])
      if (rows[0]?.taken === true) break
      if (performance.now() >= giveUpAt) {
        throw new Error(`another process has been migrating this database for ${waitMs} ms; try again when it is done`)
      }
      await wait(RETRY_EVERY_MS)
    }
    return await work()
  } finally {
    // Ends the session, and the lock with it, however `work` ended.
    client.release(true)
  }
}
