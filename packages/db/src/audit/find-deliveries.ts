import type { Database } from '../connection/database.js'
import { readSnapshot } from './read-snapshot.js'
import { lowerBound, upperBound } from './uuid-bounds.js'

/** What to list. Times are epoch ms by the database clock; `null` leaves a filter out. */
export type DeliveryFilter = {
  readonly source: string | null
  readonly type: string | null
  readonly destination: string | null
  /** A first, coarse choice by state; the exact verdict is judged by whoever reads the timelines. */
  readonly standing: Standing | null
  readonly since: number | null
  readonly until: number | null
}

/** Where a delivery stands, as far as indexes and narrow columns can tell. */
export const STANDINGS = [
  /** An action that is not finished: pending, in whatever place. */
  'pending',
  /** An action held as uncertain, or pending with an open doubt. */
  'in_doubt',
  /** Given up, stopped, or settled as not delivered. */
  'not_delivered',
  /** Delivered although an attempt was in doubt, or an answer came late. */
  'delivered_after_doubt',
  /** The destination said that it knew the key, or an answer came late. */
  'repeated',
  'quarantined',
  'ignored',
  /** Came before its time and waits. */
  'deferred',
] as const
export type Standing = (typeof STANDINGS)[number]

export type DeliveryPage = {
  /** Our ids, newest first. */
  readonly deliveries: readonly string[]
  /** Pass it to go on; `null`: there is nothing older. A page may be short, or empty, and still have one. */
  readonly next: string | null
}

/** Claims looked at by one call, so that a filter that matches little never becomes a scan of everything. */
const SCAN = 20_000

const HAS_LATE_ANSWER = 'EXISTS (SELECT FROM counterfoil.late_outcome o WHERE o.entry = e.id)'

const CONDITIONS: Readonly<Record<Standing, string>> = {
  pending: ofEntry(`e.state = 'pending'`),
  in_doubt: ofEntry(`(e.state = 'uncertain' OR (e.state = 'pending' AND (
    EXISTS (SELECT FROM counterfoil.due q WHERE q.entry = e.id AND q.uncertain_since IS NOT NULL) OR
    EXISTS (SELECT FROM counterfoil.lease l WHERE l.entry = e.id
            AND (l.uncertain_since IS NOT NULL OR l.expires_at < clock_timestamp())))))`),
  not_delivered: ofEntry(
    `(e.state IN ('dead_lettered', 'cancelled') OR (e.state = 'settled' AND e.reason = 'not_delivered'))`,
  ),
  delivered_after_doubt: ofEntry(`e.state <> 'pending' AND (
    EXISTS (SELECT FROM counterfoil.attempt a WHERE a.entry = e.id AND a.outcome = 'uncertain') OR ${HAS_LATE_ANSWER})`),
  repeated: ofEntry(`(e.repeat OR ${HAS_LATE_ANSWER})`),
  quarantined: `s.disposition = 'quarantined'`,
  ignored: `s.disposition = 'ignored'`,
  deferred: `EXISTS (SELECT FROM counterfoil.deferred w WHERE w.delivery = s.id)`,
}

/** `OFFSET 0` keeps it a lookup per claim: as a join it hashed all entries for every page (over 10 s instead of 5 for 1M). */
function ofEntry(condition: string): string {
  return `EXISTS (SELECT FROM counterfoil.entry e WHERE e.delivery = s.id AND ${condition} OFFSET 0)`
}

/**
 * A page of deliveries, newest first, by keyset over their time-ordered ids. Reads at most a few thousand claims;
 * call again with `next` to go on.
 */
export function findDeliveries(
  database: Database,
  filter: DeliveryFilter,
  page: { readonly limit: number; readonly after: string | null },
): Promise<DeliveryPage> {
  return readSnapshot(database, async (client) => {
    const { rows } = await client.query<{ id: string; hit: boolean }>(
      `WITH s AS MATERIALIZED (
         SELECT id, source, event_type, disposition, claimed_at FROM counterfoil.delivery
         WHERE id < $1::uuid AND id >= $2::uuid ORDER BY id DESC LIMIT ${SCAN})
       SELECT s.id, true AS hit FROM s
       WHERE ($3::text IS NULL OR s.source = $3) AND ($4::text IS NULL OR s.event_type = $4)
         AND ($5::timestamptz IS NULL OR s.claimed_at >= $5) AND ($6::timestamptz IS NULL OR s.claimed_at < $6)
         AND ($7::text IS NULL OR ${ofEntry('e.destination = $7')}
              OR EXISTS (SELECT FROM counterfoil.entry_link k JOIN counterfoil.entry e ON e.id = k.entry
                         WHERE k.delivery = s.id AND e.destination = $7))
         ${filter.standing === null ? '' : `AND ${CONDITIONS[filter.standing]}`}
       UNION ALL
       -- The oldest claim looked at, when there may be more behind it.
       (SELECT id, false FROM s ORDER BY id LIMIT (CASE WHEN (SELECT count(*) FROM s) = ${SCAN} THEN 1 ELSE 0 END))
       ORDER BY hit DESC, id DESC`,
      [
        page.after ?? upperBound(filter.until),
        lowerBound(filter.since),
        filter.source,
        filter.type,
        toDate(filter.since),
        toDate(filter.until),
        filter.destination,
      ],
    )
    return toPage(rows, page.limit)
  })
}

function toPage(rows: readonly { id: string; hit: boolean }[], limit: number): DeliveryPage {
  const hits = rows.filter((row) => row.hit).map((row) => row.id)
  const scannedTo = rows.find((row) => !row.hit)?.id ?? null
  const deliveries = hits.slice(0, limit)
  return { deliveries, next: hits.length > limit ? (deliveries.at(-1) ?? null) : scannedTo }
}

function toDate(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms)
}
