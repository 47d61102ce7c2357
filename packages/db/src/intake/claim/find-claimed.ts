import type { PlannedDelivery } from '@counterfoil/core'
import type { ClientBase } from 'pg'

/** One by one, as in `recogniseArrivals`: as a join its cached plan may read all of `delivery`. */
export const FIND_CLAIMED = `
SELECT a.id FROM unnest($1::text[], $2::text[], $3::text[]) AS a(id, source, delivery_id)
WHERE (SELECT d.id FROM counterfoil.delivery d
       WHERE d.delivery_id = a.delivery_id AND d.source = a.source LIMIT 1) IS NOT NULL`

/** Which of these deliveries have a committed claim, by whomever. Returns the ids of the arrivals given. */
export async function findClaimed(
  client: ClientBase,
  deliveries: readonly Pick<PlannedDelivery, 'id' | 'source' | 'deliveryId'>[],
): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ id: string }>({
    name: 'counterfoil_find_claimed',
    text: FIND_CLAIMED,
    values: [
      deliveries.map(({ id }) => id),
      deliveries.map(({ source }) => source),
      deliveries.map((d) => d.deliveryId),
    ],
  })
  return new Set(rows.map((row) => row.id))
}
