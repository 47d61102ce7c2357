import type { DoubtOnRecord, EntryTimeline, Finding, FindingEffect, LookupOnRecord } from '@counterfoil/core'
import type pg from 'pg'
import { groupBy, toMs, toMsOrNull } from './read-snapshot.js'

export type LookupsOfEntry = Pick<EntryTimeline, 'lookups' | 'doubt'>

type LookupRow = {
  entry: string
  number: number
  asked_by: string
  by_person: boolean
  asked_at: Date
  answered_at: Date | null
  finding: Finding
  status: number | null
  cause: string | null
  detail: string | null
  effect: FindingEffect
}

type DoubtRow = { entry: string; held_at: Date; next_at: Date | null; review_by: Date | null }

/** Every question about these entries with its finding, oldest first, and the doubts that are open. */
export async function readLookups(
  client: pg.PoolClient,
  entries: readonly string[],
): Promise<(entry: string) => LookupsOfEntry> {
  const lookups = await client.query<LookupRow>(
    `SELECT l.entry, l.number, l.asked_by, l.act IS NOT NULL AS by_person, l.asked_at, f.answered_at, f.finding,
            f.status, f.cause, f.detail, f.effect
     FROM counterfoil.lookup l
     LEFT JOIN counterfoil.finding f ON f.entry = l.entry AND f.number = l.number
     WHERE l.entry = ANY($1::uuid[]) ORDER BY l.entry, l.number`,
    [entries],
  )
  const doubts = await client.query<DoubtRow>(
    'SELECT entry, held_at, next_at, review_by FROM counterfoil.reconciliation WHERE entry = ANY($1::uuid[])',
    [entries],
  )
  const lookupsBy = groupBy(lookups.rows, (row) => row.entry)
  const doubtBy = new Map(doubts.rows.map((row) => [row.entry, toDoubt(row)]))
  return (entry) => ({
    lookups: (lookupsBy.get(entry) ?? []).map(toLookup),
    doubt: doubtBy.get(entry) ?? null,
  })
}

function toLookup(row: LookupRow): LookupOnRecord {
  const { number, finding, status, cause, detail, effect } = row
  return {
    number,
    askedBy: row.asked_by,
    byPerson: row.by_person,
    askedAt: toMs(row.asked_at),
    answer:
      row.answered_at === null ? null : { answeredAt: toMs(row.answered_at), finding, status, cause, detail, effect },
  }
}

function toDoubt(row: DoubtRow): DoubtOnRecord {
  return { heldAt: toMs(row.held_at), nextAskAt: toMsOrNull(row.next_at), reviewBy: toMsOrNull(row.review_by) }
}
