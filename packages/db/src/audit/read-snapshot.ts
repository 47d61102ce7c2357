import type pg from 'pg'
import type { Database } from '../connection/database.js'

/**
 * Runs reads that must agree with each other: one snapshot, read-only, so that a timeline never shows an attempt
 * without the entry state that it led to. Throws what the database throws.
 */
export async function readSnapshot<T>(database: Database, read: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await database.pool.connect()
  let broken = true
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    const result = await read(client)
    await client.query('COMMIT')
    broken = false
    return result
  } finally {
    // A session in an unknown state is not for the next reader.
    client.release(broken)
  }
}

/** Epoch ms of a timestamp column. */
export function toMs(value: Date): number {
  return value.getTime()
}

export function toMsOrNull(value: Date | null): number | null {
  return value === null ? null : value.getTime()
}

/** Rows by a key, in their order. */
export function groupBy<Row>(rows: readonly Row[], key: (row: Row) => string): ReadonlyMap<string, readonly Row[]> {
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    const group = groups.get(key(row))
    if (group === undefined) groups.set(key(row), [row])
    else group.push(row)
  }
  return groups
}
