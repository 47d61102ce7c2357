import type { PlannedDelivery } from '@counterfoil/core'
import type { ClientBase } from 'pg'
import { encodeIntegers, encodeTexts, encodeUuids } from '../../connection/encode-array.js'

export type Refusal = { readonly delivery: PlannedDelivery; readonly retryAfterMs: number }

const RECORD = `
INSERT INTO counterfoil.refused_observation
  (id, source, delivery_id, outcome, retry_after_ms, key_id, sender_attempt, instance)
SELECT r.id, r.source, r.delivery_id, 'not_due', r.retry_after_ms, r.key_id, r.sender_attempt, $1
FROM unnest($2::uuid[], $3::text[], $4::text[], $5::int[], $6::text[], $7::int[])
     AS r(id, source, delivery_id, retry_after_ms, key_id, sender_attempt)
ON CONFLICT DO NOTHING`

const LARGEST_INT4 = 2_147_483_647

/** Writes arrivals down that were answered "not now" on purpose. Repeating a record is harmless. */
export async function recordRefusals(
  client: ClientBase,
  instance: string,
  refusals: readonly Refusal[],
): Promise<void> {
  if (refusals.length === 0) return
  await client.query({
    name: 'counterfoil_record_refusals',
    text: RECORD,
    values: [
      instance,
      encodeUuids(refusals.map(({ delivery }) => delivery.observationId)),
      encodeTexts(refusals.map(({ delivery }) => delivery.source)),
      encodeTexts(refusals.map(({ delivery }) => delivery.deliveryId)),
      encodeIntegers(refusals.map(({ retryAfterMs }) => Math.min(LARGEST_INT4, Math.ceil(retryAfterMs)))),
      encodeTexts(refusals.map(({ delivery }) => delivery.keyId)),
      encodeIntegers(refusals.map(({ delivery }) => delivery.senderAttempt)),
    ],
  })
}
