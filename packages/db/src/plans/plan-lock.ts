import type { Database } from '../connection/database.js'
import { runExclusively } from '../connection/run-exclusively.js'

const lockName = (plan: string) => `plan ${plan}`

/** Runs `work` as the only runner of a plan in the fleet; false when there is another one. */
export function runAsOnlyRunner(database: Database, plan: string, work: () => Promise<void>): Promise<boolean> {
  return runExclusively(database, lockName(plan), work)
}

/** Is anybody running the plan at this moment? Read from the locks, so a runner that was killed doesn't count. */
export const IS_RUNNING = `EXISTS (
  SELECT FROM pg_locks l JOIN pg_database d ON d.oid = l.database AND d.datname = current_database()
  WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted
    AND ((l.classid::bigint << 32) | l.objid::bigint) = hashtextextended('counterfoil plan ' || p.id::text, 0))`
