import type { LookupValues } from '@counterfoil/core'

/** One question that is on record and may be sent now. */
export type AskedLookup = {
  readonly entry: string
  readonly number: number
  readonly token: string
  readonly destination: string
  readonly delivery: string
  /** The database clock, epoch ms. */
  readonly askedAt: number
  readonly heldAt: number
  readonly values: LookupValues
}

/**
 * Puts the question on record in the statement that takes the right to ask it: `leased` are rows of `reconciliation`
 * that were just leased. The numbers of one entry rise for good, whatever hold they are about.
 * $1 is who asks, $2 the act in whose name, or NULL.
 */
export const ASK_LEASED = `
asked AS (
  INSERT INTO counterfoil.lookup (entry, number, token, destination, asked_by, act, attempts, held_at)
  SELECT l.entry, 1 + coalesce((SELECT max(o.number) FROM counterfoil.lookup o WHERE o.entry = l.entry), 0), l.token,
         l.destination, $1::text, $2::uuid, l.attempts, l.held_at
    FROM leased l
  RETURNING entry, number, token, destination, held_at, asked_at
)
SELECT a.entry, a.number, a.token, a.destination, a.held_at, a.asked_at, e.delivery, e.idempotency_key,
       e.attempts, d.source, d.delivery_id, t.first_at, t.last_at,
       coalesce((SELECT json_agg(json_build_array(r.name, r.value)) FROM counterfoil.reference r
                  WHERE r.delivery = e.delivery), '[]') AS "references"
  FROM asked a
  JOIN counterfoil.entry e ON e.id = a.entry
  LEFT JOIN counterfoil.delivery d ON d.id = e.delivery
  CROSS JOIN LATERAL (SELECT min(opened_at) AS first_at, max(opened_at) AS last_at
                        FROM counterfoil.attempt WHERE entry = a.entry) t
 ORDER BY a.held_at, a.entry`

export type AskedRow = {
  entry: string
  number: number
  token: string
  destination: string
  held_at: Date
  asked_at: Date
  delivery: string
  idempotency_key: string
  attempts: number
  source: string | null
  delivery_id: string | null
  first_at: Date | null
  last_at: Date | null
  references: [string, string][]
}

export function toAsked(row: AskedRow): AskedLookup {
  return {
    entry: row.entry,
    number: row.number,
    token: row.token,
    destination: row.destination,
    delivery: row.delivery,
    askedAt: row.asked_at.getTime(),
    heldAt: row.held_at.getTime(),
    values: {
      entry: row.entry,
      key: row.idempotency_key,
      source: row.source ?? '',
      deliveryId: row.delivery_id ?? '',
      attempt: row.attempts,
      firstAttemptAt: row.first_at?.getTime() ?? null,
      lastAttemptAt: row.last_at?.getTime() ?? null,
      references: row.references,
    },
  }
}
