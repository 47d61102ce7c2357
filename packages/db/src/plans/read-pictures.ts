import type { EntryTimeline } from '@counterfoil/core'
import type pg from 'pg'
import { readActs } from '../audit/read-acts.js'
import { readAttempts } from '../audit/read-attempts.js'
import { readEntries } from '../audit/read-entries.js'
import { groupBy } from '../audit/read-snapshot.js'
import type { Candidate } from './find-candidates.js'

/** One entry with everything on record about it. */
export type EntryPicture = { readonly entry: EntryTimeline; readonly version: string; readonly readAt: number }

/** So many entries are read by one statement. */
const PAGE = 500

/**
 * What is on record about these entries, in their order. The version is the one that they were found with: what
 * changed since is skipped when its turn comes.
 */
export async function readPictures(
  client: pg.PoolClient,
  candidates: readonly Candidate[],
): Promise<readonly EntryPicture[]> {
  const clock = await client.query<{ read_at: Date }>('SELECT clock_timestamp() AS read_at')
  const readAt = clock.rows[0]?.read_at.getTime() ?? 0
  const pictures: EntryPicture[] = []
  for (let start = 0; start < candidates.length; start += PAGE) {
    pictures.push(...(await readPage(client, candidates.slice(start, start + PAGE), readAt)))
  }
  return pictures
}

async function readPage(
  client: pg.PoolClient,
  page: readonly Candidate[],
  readAt: number,
): Promise<readonly EntryPicture[]> {
  const ids = page.map(({ id }) => id)
  const entries = await readEntries(client, [...new Set(page.map(({ delivery }) => delivery))])
  const byId = groupBy(entries, ({ entry }) => entry.id)
  const attempts = await readAttempts(client, ids)
  const acts = await readActs(client, [], ids)
  return page.flatMap(({ id, version }) => {
    const own = byId.get(id)?.[0]
    if (own === undefined) return []
    return [{ entry: { ...own.entry, ...attempts(id), acts: acts.ofEntry(id) }, version, readAt }]
  })
}
