import type { Database } from '../connection/database.js'

/** A delivery with its bytes, for planning it again. `body` is `null` once its content was erased. */
export type DeliveryOnStore = {
  readonly source: string
  readonly deliveryId: string
  readonly eventType: string | null
  readonly body: Buffer | null
  readonly contentType: string | null
}

export async function readStoredDelivery(database: Database, deliveryUuid: string): Promise<DeliveryOnStore | null> {
  const { rows } = await database.pool.query<{
    source: string
    delivery_id: string
    event_type: string | null
    body: Buffer | null
    content_type: string | null
  }>(
    `SELECT d.source, d.delivery_id, d.event_type, c.body, c.content_type FROM counterfoil.delivery d
     LEFT JOIN counterfoil.delivery_content c ON c.delivery = d.id WHERE d.id = $1`,
    [deliveryUuid],
  )
  const row = rows[0]
  if (row === undefined) return null
  return {
    source: row.source,
    deliveryId: row.delivery_id,
    eventType: row.event_type,
    body: row.body,
    contentType: row.content_type,
  }
}
