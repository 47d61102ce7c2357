import type { Database } from '../connection/database.js'
import type { DeliveryName } from './read-refusals.js'
import { readSnapshot, toMs, toMsOrNull } from './read-snapshot.js'

/** How a subject was found: what the query was exactly equal to. */
export type MatchedBy = 'reference' | 'delivery_id' | 'delivery' | 'entry' | 'idempotency_key' | 'transition_subject'

export type Subject =
  | {
      readonly kind: 'delivery'
      readonly deliveryUuid: string
      readonly source: string
      readonly deliveryId: string
      readonly eventType: string | null
      readonly claimedAt: number
      readonly matchedBy: readonly MatchedBy[]
    }
  /** Arrived with a valid signature, and was never claimed. */
  | ({ readonly kind: 'never_claimed'; readonly lastSeenAt: number } & DeliveryName)

export type SubjectsFound = {
  /** Newest first; ids that were never claimed come last. */
  readonly subjects: readonly Subject[]
  /** There were more than `limit`. */
  readonly cut: boolean
  /** The oldest claim that is kept; `null`: there is none. */
  readonly earliestKeptAt: number | null
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Longer than anything that is indexed, so it can only be nothing. */
const MAX_BYTES = 255

type DeliveryRow = {
  id: string
  source: string
  delivery_id: string
  event_type: string | null
  claimed_at: Date
  matched_by: MatchedBy[]
}
type NeverClaimedRow = { source: string; delivery_id: string; last_seen_at: Date }

/**
 * Which deliveries a query means: a reference's value, a sender's delivery id, an id of ours, an idempotency key or the
 * subject of a transition, exactly. Index lookups only, each bounded by `limit`; never a scan.
 */
export function findSubjects(
  database: Database,
  query: string,
  options: { readonly limit?: number } = {},
): Promise<SubjectsFound> {
  const limit = options.limit ?? 20
  return readSnapshot(database, async (client) => {
    // UUIDv7: the oldest claim has the lowest id.
    const oldest = await client.query<{ claimed_at: Date | null }>(
      'SELECT (SELECT claimed_at FROM counterfoil.delivery ORDER BY id LIMIT 1) AS claimed_at',
    )
    const earliestKeptAt = toMsOrNull(oldest.rows[0]?.claimed_at ?? null)
    if (query.includes('\0') || Buffer.byteLength(query) > MAX_BYTES)
      return { subjects: [], cut: false, earliestKeptAt }

    const parameters = [query, UUID.test(query) ? query : null, limit + 1]
    const claimed = await client.query<DeliveryRow>(FIND_DELIVERIES, parameters)
    const unclaimed = await client.query<NeverClaimedRow>(FIND_NEVER_CLAIMED, [query, limit + 1])
    const subjects = [...claimed.rows.map(toSubject), ...unclaimed.rows.map(toNeverClaimed)]
    return { subjects: subjects.slice(0, limit), cut: subjects.length > limit, earliestKeptAt }
  })
}

/** Each branch is one index; ids are UUIDv7, so the highest are the newest. */
export const FIND_DELIVERIES = `
  WITH hit (delivery, matched_by) AS (
    (SELECT delivery, 'reference' FROM counterfoil.reference WHERE value = $1 ORDER BY delivery DESC LIMIT $3)
    UNION ALL (SELECT id, 'delivery_id' FROM counterfoil.delivery WHERE delivery_id = $1 ORDER BY id DESC LIMIT $3)
    UNION ALL (SELECT id, 'delivery' FROM counterfoil.delivery WHERE id = $2::uuid)
    UNION ALL (SELECT delivery, 'entry' FROM counterfoil.entry WHERE id = $2::uuid)
    UNION ALL (SELECT delivery, 'idempotency_key' FROM counterfoil.entry WHERE idempotency_key = $1 LIMIT $3)
    UNION ALL (SELECT l.delivery, 'idempotency_key' FROM counterfoil.entry e
               JOIN counterfoil.entry_link l ON l.entry = e.id WHERE e.idempotency_key = $1 LIMIT $3)
    UNION ALL (SELECT delivery, 'transition_subject' FROM counterfoil.transition_outcome WHERE subject = $1
               ORDER BY delivery DESC LIMIT $3))
  SELECT d.id, d.source, d.delivery_id, d.event_type, d.claimed_at, array_agg(DISTINCT h.matched_by) AS matched_by
  FROM hit h JOIN counterfoil.delivery d ON d.id = h.delivery
  GROUP BY d.id ORDER BY d.claimed_at DESC, d.id DESC LIMIT $3`

export const FIND_NEVER_CLAIMED = `
  SELECT a.source, a.delivery_id, max(a.seen_at) AS last_seen_at FROM (
    (SELECT source, delivery_id, observed_at AS seen_at FROM counterfoil.refused_observation
     WHERE delivery_id = $1 ORDER BY observed_at DESC LIMIT 1000)
    UNION ALL
    (SELECT source, delivery_id, seen_at FROM counterfoil.unclaimed WHERE delivery_id = $1
     ORDER BY seen_at DESC LIMIT 1000)) a
  WHERE NOT EXISTS (SELECT FROM counterfoil.delivery d WHERE d.delivery_id = a.delivery_id AND d.source = a.source)
  GROUP BY a.source, a.delivery_id ORDER BY last_seen_at DESC LIMIT $2`

function toSubject(row: DeliveryRow): Subject {
  return {
    kind: 'delivery',
    deliveryUuid: row.id,
    source: row.source,
    deliveryId: row.delivery_id,
    eventType: row.event_type,
    claimedAt: toMs(row.claimed_at),
    matchedBy: row.matched_by,
  }
}

function toNeverClaimed(row: NeverClaimedRow): Subject {
  return {
    kind: 'never_claimed',
    source: row.source,
    deliveryId: row.delivery_id,
    lastSeenAt: toMs(row.last_seen_at),
  }
}
