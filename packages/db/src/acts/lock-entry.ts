import type { EntryTimeline } from '@counterfoil/core'
import type pg from 'pg'
import { readActs } from '../audit/read-acts.js'
import { readAttempts } from '../audit/read-attempts.js'
import { readEntries } from '../audit/read-entries.js'

export type LockedEntry = { readonly entry: EntryTimeline; readonly readAt: number }

/** Locks one entry against every other change of its state, then reads what is on record about it. */
export async function lockEntry(client: pg.PoolClient, entryId: string): Promise<LockedEntry | null> {
  const { rows } = await client.query<{ delivery: string }>(
    'SELECT delivery FROM counterfoil.entry WHERE id = $1 FOR UPDATE',
    [entryId],
  )
  const locked = rows[0]
  if (locked === undefined) return null
  // A statement of its own, after the lock: its snapshot sees what the one before us committed.
  const own = (await readEntries(client, [locked.delivery])).find(({ entry }) => entry.id === entryId)
  const clock = await client.query<{ read_at: Date }>('SELECT clock_timestamp() AS read_at')
  if (own === undefined) return null
  const attempts = (await readAttempts(client, [entryId]))(entryId)
  const acts = (await readActs(client, [], [entryId])).ofEntry(entryId)
  return { entry: { ...own.entry, ...attempts, acts }, readAt: clock.rows[0]?.read_at.getTime() ?? 0 }
}
