import type { AgainOnRecord, EntryPosition, EntryState, EntryTimeline, PauseOnRecord } from '@counterfoil/core'
import type pg from 'pg'
import { toMs, toMsOrNull } from './read-snapshot.js'

/** The most actions of one delivery that are listed. */
export const MAX_ENTRIES = 200

export type EntryOfDelivery = {
  readonly forDelivery: string
  readonly entry: Omit<EntryTimeline, 'attempts' | 'lateOutcomes' | 'lookups' | 'doubt' | 'acts'>
}

type EntryRow = {
  for_delivery: string
  body_differs: boolean | null
  linked_at: Date | null
  linked_deliveries: number
  again_of: string | null
  again_root: string | null
  again_number: number | null
  again_requested_by: string | null
  again_approved_by: string | null
  id: string
  delivery: string
  destination: string
  idempotency_key: string
  body_digest: string
  content_erased: boolean
  ordering_key: string | null
  created_at: Date
  state: EntryState
  reason: string | null
  repeat: boolean | null
  first_sent_at: Date | null
  uncertain_since: Date | null
  closed_at: Date | null
  due_at: Date | null
  due_first_sent_at: Date | null
  due_uncertain_since: Date | null
  lease_attempt: number | null
  lease_worker: string | null
  lease_opened_at: Date | null
  lease_expires_at: Date | null
  lease_first_sent_at: Date | null
  lease_uncertain_since: Date | null
  paused_reason: string | null
  paused_at: Date | null
  paused_until: Date | null
  paused_detail: string | null
}

/** The actions of these deliveries: their own, and those of others that already stood for the same action. */
export async function readEntries(
  client: pg.PoolClient,
  deliveries: readonly string[],
): Promise<readonly EntryOfDelivery[]> {
  const { rows } = await client.query<EntryRow>(
    `WITH wanted AS (
       SELECT d.id AS for_delivery, x.* FROM unnest($1::uuid[]) AS d (id)
       CROSS JOIN LATERAL (
         SELECT e.id AS entry, NULL::boolean AS body_differs, NULL::timestamptz AS linked_at
         FROM counterfoil.entry e WHERE e.delivery = d.id
         UNION ALL
         SELECT l.entry, l.body_differs, l.linked_at FROM counterfoil.entry_link l WHERE l.delivery = d.id
         LIMIT $2) x)
     SELECT w.for_delivery, w.body_differs, w.linked_at,
            (SELECT count(*)::int FROM (SELECT FROM counterfoil.entry_link l WHERE l.entry = e.id LIMIT 1000) l) AS linked_deliveries,
            r.entry AS again_of, r.root AS again_root, r.number AS again_number, r.requested_by AS again_requested_by,
            a.answered_by AS again_approved_by,
            e.id, e.delivery, e.destination, e.idempotency_key, encode(e.body_digest, 'hex') AS body_digest,
            e.body IS NULL AS content_erased, e.ordering_key, e.created_at, e.state, e.reason, e.repeat,
            e.first_sent_at, e.uncertain_since, e.closed_at,
            q.due_at, q.first_sent_at AS due_first_sent_at, q.uncertain_since AS due_uncertain_since,
            s.attempt AS lease_attempt, s.worker AS lease_worker, s.opened_at AS lease_opened_at,
            s.expires_at AS lease_expires_at, s.first_sent_at AS lease_first_sent_at,
            s.uncertain_since AS lease_uncertain_since,
            p.paused_reason, p.paused_at, p.paused_until, p.detail AS paused_detail
     FROM wanted w
     JOIN counterfoil.entry e ON e.id = w.entry
     LEFT JOIN counterfoil.again_answer a ON a.entry = e.id
     LEFT JOIN counterfoil.again_request r ON r.id = a.request
     LEFT JOIN counterfoil.due q ON q.entry = e.id
     LEFT JOIN counterfoil.lease s ON s.entry = e.id
     LEFT JOIN counterfoil.destination_state p ON p.destination = e.destination AND p.paused_reason IS NOT NULL
     ORDER BY w.for_delivery, e.created_at, e.destination, e.idempotency_key`,
    [deliveries, MAX_ENTRIES],
  )
  return rows.map((row) => ({ forDelivery: row.for_delivery, entry: toEntry(row) }))
}

function toEntry(row: EntryRow): EntryOfDelivery['entry'] {
  return {
    id: row.id,
    delivery: row.delivery,
    link: row.linked_at === null ? null : { bodyDiffers: row.body_differs === true, linkedAt: toMs(row.linked_at) },
    linkedDeliveries: row.linked_deliveries,
    again: toAgain(row),
    destination: row.destination,
    idempotencyKey: row.idempotency_key,
    bodyDigest: row.body_digest,
    contentErased: row.content_erased,
    orderingKey: row.ordering_key,
    createdAt: toMs(row.created_at),
    state: row.state,
    reason: row.reason,
    repeat: row.repeat,
    firstSentAt: toMsOrNull(row.first_sent_at ?? row.lease_first_sent_at ?? row.due_first_sent_at),
    uncertainSince: toMsOrNull(row.uncertain_since),
    closedAt: toMsOrNull(row.closed_at),
    position: toPosition(row),
    pause: toPause(row),
  }
}

function toAgain(row: EntryRow): AgainOnRecord | null {
  const { again_of: of, again_root: root, again_number: number } = row
  if (of === null || root === null || number === null) return null
  return { of, root, number, requestedBy: row.again_requested_by ?? '', approvedBy: row.again_approved_by ?? '' }
}

function toPosition(row: EntryRow): EntryPosition {
  if (row.lease_opened_at !== null && row.lease_expires_at !== null) {
    return {
      kind: 'leased',
      attempt: row.lease_attempt ?? 0,
      worker: row.lease_worker ?? '',
      openedAt: toMs(row.lease_opened_at),
      expiresAt: toMs(row.lease_expires_at),
      uncertainSince: toMsOrNull(row.lease_uncertain_since),
    }
  }
  if (row.due_at !== null) {
    return { kind: 'due', dueAt: toMs(row.due_at), uncertainSince: toMsOrNull(row.due_uncertain_since) }
  }
  return { kind: row.state === 'pending' ? 'nowhere' : 'final' }
}

function toPause(row: EntryRow): PauseOnRecord | null {
  if (row.paused_reason === null || row.paused_at === null) return null
  return {
    reason: row.paused_reason,
    pausedAt: toMs(row.paused_at),
    pausedUntil: toMsOrNull(row.paused_until),
    detail: row.paused_detail,
  }
}
