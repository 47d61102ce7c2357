import type { EntryTimeline } from '@counterfoil/core'
import type pg from 'pg'
import { readActs } from '../audit/read-acts.js'
import { readAttempts } from '../audit/read-attempts.js'
import { readEntries } from '../audit/read-entries.js'
import { ENTRY_VERSION } from './entry-version.js'

export type LockedEntry = {
  readonly entry: EntryTimeline
  readonly readAt: number
  /** See `ENTRY_VERSION`. */
  readonly version: string
}

/**
 * Locks one entry against every other change of its state, then reads what is on record about it. Its place among the
 * due comes first, in the order in which a late outcome takes the two: a lease that is being made is waited for.
 */
export async function lockEntry(client: pg.PoolClient, entryId: string): Promise<LockedEntry | null> {
  await client.query('SELECT FROM counterfoil.due WHERE entry = $1 FOR UPDATE', [entryId])
  const { rows } = await client.query<{ delivery: string }>(
    'SELECT delivery FROM counterfoil.entry WHERE id = $1 FOR UPDATE',
    [entryId],
  )
  const locked = rows[0]
  if (locked === undefined) return null
  // Statements of their own, after the locks: their snapshots see what the one before us committed.
  const clock = await client.query<{ read_at: Date; version: string }>(
    `SELECT clock_timestamp() AS read_at, ${ENTRY_VERSION} AS version FROM counterfoil.entry e WHERE id = $1`,
    [entryId],
  )
  const own = (await readEntries(client, [locked.delivery])).find(({ entry }) => entry.id === entryId)
  const read = clock.rows[0]
  if (own === undefined || read === undefined) return null
  const attempts = (await readAttempts(client, [entryId]))(entryId)
  const acts = (await readActs(client, [], [entryId])).ofEntry(entryId)
  return { entry: { ...own.entry, ...attempts, acts }, readAt: read.read_at.getTime(), version: read.version }
}
