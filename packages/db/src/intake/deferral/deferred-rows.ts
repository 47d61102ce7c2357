import type { ClientBase } from 'pg'
import type { Database } from '../../connection/database.js'
import type { StoredDelivery } from '../intake-options.js'

export type DeferredRow = { readonly deliveryUuid: string; readonly delivery: StoredDelivery | null }

type Row = {
  delivery: string
  source: string
  delivery_id: string
  event_type: string | null
  body: Buffer | null
  content_type: string | null
}

/** Deferred deliveries whose time has come by the database clock, oldest first. `delivery: null`: its bytes were erased. */
export async function findDueDeferred(database: Database, limit: number): Promise<readonly DeferredRow[]> {
  const { rows } = await database.pool.query<Row>({
    name: 'counterfoil_find_due_deferred',
    text: `SELECT f.delivery, d.source, d.delivery_id, d.event_type, c.body, c.content_type
           FROM counterfoil.deferred f
           JOIN counterfoil.delivery d ON d.id = f.delivery
           LEFT JOIN counterfoil.delivery_content c ON c.delivery = f.delivery
           WHERE f.due_at <= clock_timestamp() ORDER BY f.due_at LIMIT $1`,
    values: [limit],
  })
  return rows.map((row) => ({
    deliveryUuid: row.delivery,
    delivery:
      row.body === null
        ? null
        : {
            source: row.source,
            deliveryId: row.delivery_id,
            eventType: row.event_type,
            body: row.body,
            contentType: row.content_type,
          },
  }))
}

/** Takes those of them that nobody else is deciding right now; the others are somebody's already. */
export async function takeDeferred(client: ClientBase, deliveries: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ delivery: string }>({
    name: 'counterfoil_take_deferred',
    text: `SELECT delivery FROM counterfoil.deferred WHERE delivery = ANY ($1::uuid[]) AND due_at <= clock_timestamp()
           ORDER BY delivery FOR UPDATE SKIP LOCKED`,
    values: [deliveries],
  })
  return new Set(rows.map((row) => row.delivery))
}

export async function removeDeferred(client: ClientBase, deliveries: readonly string[]): Promise<void> {
  if (deliveries.length === 0) return
  await client.query({
    name: 'counterfoil_remove_deferred',
    text: 'DELETE FROM counterfoil.deferred WHERE delivery = ANY ($1::uuid[])',
    values: [deliveries],
  })
}

/** Asks again later, so that the next page is not filled with those that can't be decided now. */
export async function postponeDeferred(
  client: ClientBase | Database['pool'],
  waits: readonly { readonly deliveryUuid: string; readonly ms: number }[],
): Promise<void> {
  if (waits.length === 0) return
  await client.query({
    name: 'counterfoil_postpone_deferred',
    text: `UPDATE counterfoil.deferred f SET due_at = clock_timestamp() + w.ms * interval '1 millisecond'
           FROM unnest($1::uuid[], $2::float8[]) AS w(delivery, ms) WHERE f.delivery = w.delivery`,
    values: [waits.map((wait) => wait.deliveryUuid), waits.map((wait) => wait.ms)],
  })
}
