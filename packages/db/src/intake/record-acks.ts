import type { AckRecord } from '@counterfoil/core'
import type { Database } from '../connection/database.js'
import { encodeIntegers, encodeNumbers, encodeTexts, encodeUuids } from '../connection/encode-array.js'

const RECORD = `
INSERT INTO counterfoil.ack (delivery, observation, status, result, answered_at)
SELECT delivery, observation, status, result, to_timestamp(answered_ms / 1000)
FROM unnest($1::uuid[], $2::uuid[], $3::int[], $4::text[], $5::float8[])
     AS a(delivery, observation, status, result, answered_ms)
ORDER BY delivery, observation
ON CONFLICT DO NOTHING`

/** Writes answers down in one statement; repeating a record is harmless. Throws when the database refuses. */
export async function recordAcks(database: Database, acks: readonly AckRecord[]): Promise<void> {
  if (acks.length === 0) return
  await database.pool.query({
    name: 'counterfoil_record_acks',
    text: RECORD,
    values: [
      encodeUuids(acks.map((ack) => ack.deliveryUuid)),
      encodeUuids(acks.map((ack) => ack.observationId)),
      encodeIntegers(acks.map((ack) => ack.status)),
      encodeTexts(acks.map((ack) => ack.result)),
      encodeNumbers(acks.map((ack) => ack.answeredAt)),
    ],
  })
}
