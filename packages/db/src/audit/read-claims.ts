import type { DeliveryTimeline } from '@counterfoil/core'
import type pg from 'pg'
import { groupBy, toMs, toMsOrNull } from './read-snapshot.js'

export type Claim = Pick<DeliveryTimeline, 'delivery' | 'references' | 'deferredUntil'> & { readonly readAt: number }

type ClaimRow = {
  id: string
  source: string
  delivery_id: string
  event_type: string | null
  disposition: DeliveryTimeline['delivery']['disposition']
  reason: string | null
  claimed_at: Date
  content_erased: boolean
  due_at: Date | null
  read_at: Date
}

/** The claims of these deliveries with their references; ids that don't exist are left out. */
export async function readClaims(client: pg.PoolClient, ids: readonly string[]): Promise<ReadonlyMap<string, Claim>> {
  const { rows } = await client.query<ClaimRow>(
    `SELECT d.id, d.source, d.delivery_id, d.event_type, d.disposition, d.reason, d.claimed_at,
            c.body IS NULL AS content_erased, w.due_at, clock_timestamp() AS read_at
     FROM counterfoil.delivery d
     LEFT JOIN counterfoil.delivery_content c ON c.delivery = d.id
     LEFT JOIN counterfoil.deferred w ON w.delivery = d.id
     WHERE d.id = ANY($1::uuid[])`,
    [ids],
  )
  const references = await readReferences(client, ids)
  return new Map(rows.map((row) => [row.id, toClaim(row, references.get(row.id) ?? [])]))
}

type ReferenceRow = { delivery: string; name: string; value: string | null }

async function readReferences(
  client: pg.PoolClient,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly ReferenceRow[]>> {
  const { rows } = await client.query<ReferenceRow>(
    `SELECT delivery, name, CASE WHEN personal THEN NULL ELSE value END AS value
     FROM counterfoil.reference WHERE delivery = ANY($1::uuid[]) ORDER BY delivery, name, value LIMIT 5000`,
    [ids],
  )
  return groupBy(rows, (row) => row.delivery)
}

function toClaim(row: ClaimRow, references: readonly ReferenceRow[]): Claim {
  return {
    readAt: toMs(row.read_at),
    delivery: {
      id: row.id,
      source: row.source,
      deliveryId: row.delivery_id,
      eventType: row.event_type,
      disposition: row.disposition,
      reason: row.reason,
      claimedAt: toMs(row.claimed_at),
      contentErased: row.content_erased,
    },
    references: references.map(({ name, value }) => ({ name, value })),
    deferredUntil: toMsOrNull(row.due_at),
  }
}
