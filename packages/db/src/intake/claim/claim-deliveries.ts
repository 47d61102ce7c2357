import type { PlannedDelivery, Reference } from '@counterfoil/core'
import type { ClientBase } from 'pg'
import {
  encodeBooleans,
  encodeBuffers,
  encodeIntegers,
  encodeTexts,
  encodeUuids,
} from '../../connection/encode-array.js'
import { type AskedEntry, encodeEntries } from './encode-entries.js'
import { ENTRY_COLUMNS, ENTRY_PHASES, ENTRY_RESULT, entryArrays } from './statements.js'

export type ClaimOutcome = {
  /** Claimed by this very call. What is missing was claimed before: `recogniseArrivals` knows by whom. */
  readonly claimed: ReadonlySet<string>
  /** Entries written by this call, with their deliveries. */
  readonly written: readonly AskedEntry[]
}

export const CLAIM = `
WITH setting AS MATERIALIZED (
  SELECT set_config('lock_timeout', $1, true) AS lock_timeout
),
arrival AS MATERIALIZED (
  SELECT a.* FROM setting, unnest(
    $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::bytea[], $8::text[], $9::text[], $10::text[], $11::text[],
    $12::int[], $13::bytea[], $14::text[]
  ) WITH ORDINALITY AS a(
    id, observation, source, delivery_id, identity_digest, event_type, disposition, reason, key_id,
    sender_attempt, body, content_type, ord
  ) WHERE setting.lock_timeout IS NOT NULL
),
claimed AS (
  INSERT INTO counterfoil.delivery (id, source, delivery_id, identity_digest, event_type, disposition, reason)
  SELECT id, source, delivery_id, identity_digest, event_type, disposition, reason
  FROM arrival ORDER BY source COLLATE "C", delivery_id COLLATE "C", ord
  ON CONFLICT DO NOTHING
  RETURNING id
),
mine AS MATERIALIZED (
  SELECT * FROM arrival WHERE (id IN (SELECT id FROM claimed)) IS TRUE
),
content AS (
  INSERT INTO counterfoil.delivery_content (delivery, body, content_type)
  SELECT id, body, content_type FROM mine
),
seen AS (
  INSERT INTO counterfoil.observation (delivery, number, id, kind, key_id, sender_attempt, instance)
  SELECT id, 1, observation, 'first', key_id, sender_attempt, $2 FROM mine
),
referenced AS (
  INSERT INTO counterfoil.reference (value, name, delivery, personal)
  SELECT r.value, r.name, r.delivery, r.personal
  FROM unnest($15::text[], $16::text[], $17::uuid[], $18::boolean[]) AS r(value, name, delivery, personal)
  WHERE (r.delivery IN (SELECT id FROM claimed)) IS TRUE
),
asked AS MATERIALIZED (
  SELECT e.* FROM unnest(${entryArrays(19)}) WITH ORDINALITY AS e(${ENTRY_COLUMNS})
  WHERE (e.delivery IN (SELECT id FROM claimed)) IS TRUE
),${ENTRY_PHASES}
SELECT ARRAY(SELECT ord::int FROM arrival WHERE (id IN (SELECT id FROM claimed)) IS NOT TRUE) AS unclaimed,${ENTRY_RESULT}`

/**
 * Claims deliveries with all that belongs to them in one statement (I1, I2): outside a transaction it is one, in one
 * round trip. Repeating it with the same ids counts nothing twice.
 *
 * `lockTimeoutMs` bounds the wait for a claim or an entry that an open transaction of a stranger holds (SQLSTATE 55P03).
 * Inside a transaction that bound lasts until its end.
 */
export async function claimDeliveries(
  client: ClientBase,
  deliveries: readonly PlannedDelivery[],
  options: { readonly instance: string; readonly lockTimeoutMs: number },
): Promise<ClaimOutcome> {
  const asked = deliveries.flatMap(askEntries)
  const { rows } = await client.query<{ unclaimed: number[]; unwritten: number[] }>({
    name: 'counterfoil_claim_deliveries',
    text: CLAIM,
    values: [
      String(Math.ceil(options.lockTimeoutMs)),
      options.instance,
      ...encodeDeliveries(deliveries),
      ...encodeReferences(deliveries),
      ...encodeEntries(asked),
    ],
  })
  const unclaimed = new Set(rows[0]?.unclaimed)
  const claimed = new Set(deliveries.filter((_, index) => !unclaimed.has(index + 1)).map((delivery) => delivery.id))
  const unwritten = new Set(rows[0]?.unwritten)
  const written = asked.filter((one, index) => claimed.has(one.deliveryUuid) && !unwritten.has(index + 1))
  return { claimed, written }
}

/** With a transition the transition's own actions count, and they are known only after it was decided. */
function askEntries(delivery: PlannedDelivery): readonly AskedEntry[] {
  const { disposition } = delivery
  if (disposition.kind !== 'act' || disposition.transition !== null) return []
  return disposition.entries.map((entry) => ({ deliveryUuid: delivery.id, entry }))
}

function encodeDeliveries(deliveries: readonly PlannedDelivery[]): Buffer[] {
  return [
    encodeUuids(deliveries.map((delivery) => delivery.id)),
    encodeUuids(deliveries.map((delivery) => delivery.observationId)),
    encodeTexts(deliveries.map((delivery) => delivery.source)),
    encodeTexts(deliveries.map((delivery) => delivery.deliveryId)),
    encodeBuffers(deliveries.map((delivery) => delivery.identityDigest)),
    encodeTexts(deliveries.map((delivery) => delivery.eventType)),
    encodeTexts(deliveries.map((delivery) => delivery.disposition.kind)),
    encodeTexts(deliveries.map(({ disposition }) => (disposition.kind === 'act' ? null : disposition.reason))),
    encodeTexts(deliveries.map((delivery) => delivery.keyId)),
    encodeIntegers(deliveries.map((delivery) => delivery.senderAttempt)),
    encodeBuffers(deliveries.map((delivery) => delivery.body)),
    encodeTexts(deliveries.map((delivery) => delivery.contentType)),
  ]
}

function encodeReferences(deliveries: readonly PlannedDelivery[]): Buffer[] {
  const references = deliveries.flatMap((delivery) =>
    eachOnce(delivery.references).map((reference) => ({ ...reference, delivery: delivery.id })),
  )
  return [
    encodeTexts(references.map((reference) => reference.value)),
    encodeTexts(references.map((reference) => reference.name)),
    encodeUuids(references.map((reference) => reference.delivery)),
    encodeBooleans(references.map((reference) => reference.personal)),
  ]
}

/** Here, not by ON CONFLICT: with its extra probe of the index for two references, the server took 15 % more time a push. */
function eachOnce(references: readonly Reference[]): readonly Reference[] {
  if (references.length < 2) return references
  const once = new Map<string, Reference>()
  for (const reference of references) {
    const key = `${reference.name}\0${reference.value}`
    const known = once.get(key)
    once.set(key, known === undefined ? reference : { ...known, personal: known.personal || reference.personal })
  }
  return [...once.values()]
}
