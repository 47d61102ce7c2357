import type { UnclaimedTrace } from '@counterfoil/core'
import type { Database } from '../connection/database.js'
import { encodeBuffers, encodeNumbers, encodeTexts, encodeUuids } from '../connection/encode-array.js'

const RECORD = `
INSERT INTO counterfoil.unclaimed (id, source, delivery_id, identity_digest, cause, seen_at)
SELECT id, source, delivery_id, identity_digest, cause, to_timestamp(seen_ms / 1000)
FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bytea[], $5::text[], $6::float8[])
     AS t(id, source, delivery_id, identity_digest, cause, seen_ms)
ORDER BY id
ON CONFLICT DO NOTHING`

/** Writes down what was authenticated but never claimed, in one statement; repeating a trace is harmless. */
export async function recordUnclaimed(database: Database, traces: readonly UnclaimedTrace[]): Promise<void> {
  if (traces.length === 0) return
  await database.pool.query({
    name: 'counterfoil_record_unclaimed',
    text: RECORD,
    values: [
      encodeUuids(traces.map((trace) => trace.id)),
      encodeTexts(traces.map((trace) => trace.source)),
      encodeTexts(traces.map((trace) => trace.deliveryId)),
      encodeBuffers(traces.map((trace) => trace.identityDigest)),
      encodeTexts(traces.map((trace) => trace.cause)),
      encodeNumbers(traces.map((trace) => trace.seenAt)),
    ],
  })
}
