import { createHash } from 'node:crypto'
import { encodeKey, SWEEP_SOURCE } from '@counterfoil/core'
import type { ClientBase } from 'pg'
import { encodeBuffers, encodeTexts, encodeUuids } from '../../connection/encode-array.js'

export type SweptRow = { readonly subject: string; readonly dueMs: number }

/**
 * Gives each swept row a delivery to hang its evidence on: source `sweep`, id from transition, subject and deadline. A row
 * that was put back and swept again under one deadline finds its first one. Returns subject → delivery.
 */
export async function insertSweepDeliveries(
  client: ClientBase,
  transition: string,
  rows: readonly SweptRow[],
  newId: () => string,
): Promise<ReadonlyMap<string, string>> {
  const ids = rows.map(({ subject, dueMs }) => encodeKey(`${transition}:${subject}:${dueMs}`))
  const { rows: found } = await client.query<{ id: string; delivery_id: string }>({
    name: 'counterfoil_insert_sweep_deliveries',
    text: `
WITH swept AS MATERIALIZED (
  SELECT * FROM unnest($1::uuid[], $2::text[], $3::bytea[]) AS s(id, delivery_id, identity_digest)
),
added AS (
  INSERT INTO counterfoil.delivery (id, source, delivery_id, identity_digest, event_type, disposition)
  SELECT id, '${SWEEP_SOURCE}', delivery_id, identity_digest, NULL, 'act' FROM swept
  ORDER BY delivery_id COLLATE "C"
  ON CONFLICT DO NOTHING RETURNING id, delivery_id
)
SELECT id, delivery_id FROM added
UNION ALL
SELECT d.id, s.delivery_id FROM swept s CROSS JOIN LATERAL (
  SELECT id FROM counterfoil.delivery WHERE delivery_id = s.delivery_id AND source = '${SWEEP_SOURCE}' LIMIT 1
) d`,
    values: [
      encodeUuids(ids.map(newId)),
      encodeTexts(ids),
      encodeBuffers(ids.map((id) => createHash('sha256').update(id).digest())),
    ],
  })
  const byId = new Map(found.map((row) => [row.delivery_id, row.id]))
  return new Map(rows.map(({ subject }, index) => [subject, byId.get(ids[index] ?? '') ?? '']))
}
