import type { DeliveryResult, PlannedDelivery, TransitionOutcome } from '@counterfoil/core'
import type { ClientBase } from 'pg'
import { encodeBuffers, encodeIntegers, encodeTexts, encodeUuids } from '../../connection/encode-array.js'

/**
 * LIMIT keeps the planner from turning the look-up around: its cached plan, made while `delivery` was a page long, read
 * all of `delivery` for every batch.
 */
export const RECOGNISE = `
WITH setting AS MATERIALIZED (
  SELECT set_config('lock_timeout', $1, true) AS lock_timeout
),
arrival AS MATERIALIZED (
  SELECT a.* FROM setting, unnest(
    $4::uuid[], $5::uuid[], $6::text[], $7::text[], $8::bytea[], $9::text[], $10::int[], $11::bytea[]
  ) WITH ORDINALITY AS a(id, observation, source, delivery_id, identity_digest, key_id, sender_attempt, body, ord)
  WHERE setting.lock_timeout IS NOT NULL
),
found AS MATERIALIZED (
  SELECT a.*, d.id AS delivery, d.identity_digest = a.identity_digest AS same,
         CASE WHEN d.id = a.id THEN 1
              WHEN $3 THEN (SELECT o.number FROM counterfoil.observation o WHERE o.delivery = d.id AND o.id = a.observation)
         END AS known
  FROM arrival a CROSS JOIN LATERAL (
    SELECT d.id, d.identity_digest FROM counterfoil.delivery d
    WHERE d.delivery_id = a.delivery_id AND d.source = a.source LIMIT 1
  ) d
),
numbered AS MATERIALIZED (
  SELECT f.*, row_number() OVER (PARTITION BY f.delivery ORDER BY f.ord)
           + coalesce((SELECT max(o.number) FROM counterfoil.observation o WHERE o.delivery = f.delivery), 1) AS number
  FROM found f WHERE f.known IS NULL
),
seen AS (
  INSERT INTO counterfoil.observation (delivery, number, id, kind, key_id, sender_attempt, instance)
  SELECT delivery, number, observation, CASE WHEN same THEN 'duplicate' ELSE 'conflict' END, key_id, sender_attempt, $2
  FROM numbered ORDER BY delivery, number
  ON CONFLICT DO NOTHING
  RETURNING id, number
),
kept AS (
  INSERT INTO counterfoil.conflict_content (observation, delivery, identity_digest, body)
  SELECT observation, delivery, identity_digest, body FROM numbered
  WHERE NOT same AND (observation IN (SELECT id FROM seen)) IS TRUE
  ON CONFLICT DO NOTHING
)
SELECT f.ord::int AS ord, f.delivery, f.delivery = f.id AS mine, f.same,
       coalesce(f.known, (SELECT s.number FROM seen s WHERE s.id = f.observation)) AS number,
       (SELECT t.outcome FROM counterfoil.transition_outcome t WHERE t.delivery = f.delivery AND t.number = 1) AS outcome
FROM found f`

type RecognisedRow = {
  ord: number
  delivery: string
  mine: boolean
  same: boolean
  /** `null`: a concurrent arrival took the number; count again. */
  number: number | null
  outcome: TransitionOutcome | null
}

/**
 * Finds by whom deliveries were claimed before, and writes these further arrivals down (I2): a duplicate has the same
 * identity digest, a conflict another. One that carries our own id is ours: a claim whose COMMIT reply was lost.
 * A delivery that is missing from the answer was not found, or lost its number to a concurrent arrival: ask again.
 *
 * Runs as a statement of its own: it must see what was committed while the claim waited.
 * `repeat`: arrivals may be on record already, from a try whose reply was lost.
 */
export async function recogniseArrivals(
  client: ClientBase,
  deliveries: readonly PlannedDelivery[],
  options: { readonly instance: string; readonly lockTimeoutMs: number; readonly repeat: boolean },
): Promise<{ readonly known: ReadonlyMap<string, DeliveryResult>; readonly unknown: readonly PlannedDelivery[] }> {
  const { rows } = await client.query<RecognisedRow>({
    name: 'counterfoil_recognise_arrivals',
    text: RECOGNISE,
    values: [
      String(Math.ceil(options.lockTimeoutMs)),
      options.instance,
      options.repeat,
      encodeUuids(deliveries.map((delivery) => delivery.id)),
      encodeUuids(deliveries.map((delivery) => delivery.observationId)),
      encodeTexts(deliveries.map((delivery) => delivery.source)),
      encodeTexts(deliveries.map((delivery) => delivery.deliveryId)),
      encodeBuffers(deliveries.map((delivery) => delivery.identityDigest)),
      encodeTexts(deliveries.map((delivery) => delivery.keyId)),
      encodeIntegers(deliveries.map((delivery) => delivery.senderAttempt)),
      encodeBuffers(deliveries.map((delivery) => delivery.body)),
    ],
  })
  const known = new Map<string, DeliveryResult>()
  const found = new Set<number>()
  for (const row of rows) {
    const delivery = deliveries[row.ord - 1]
    if (delivery === undefined || row.number === null) continue
    known.set(delivery.id, toResult(row, row.number))
  }
  for (const row of rows) found.add(row.ord)
  return { known, unknown: deliveries.filter((_, index) => !found.has(index + 1)) }
}

function toResult(row: RecognisedRow, number: number): DeliveryResult {
  const { delivery: deliveryUuid, outcome } = row
  if (row.mine) return { kind: 'first', deliveryUuid, observation: 1, outcome }
  return { kind: row.same ? 'duplicate' : 'conflict', deliveryUuid, observation: number, outcome }
}
