import type { RefusedArrival, UnclaimedArrival } from '@counterfoil/core'
import type pg from 'pg'
import { groupBy, toMs } from './read-snapshot.js'

/** The newest arrivals of one id that are listed; the counts are exact. */
const NEWEST = 100

/** The natural name of a delivery: what the sender calls it. */
export type DeliveryName = { readonly source: string; readonly deliveryId: string }

export type Refusals = {
  readonly refused: number
  readonly refusals: readonly RefusedArrival[]
  readonly unclaimedCount: number
  readonly unclaimed: readonly UnclaimedArrival[]
}

type RefusedRow = {
  source: string
  delivery_id: string
  total: number
  id: string
  outcome: string
  retry_after_ms: number
  key_id: string
  sender_attempt: number | null
  instance: string
  observed_at: Date
}
type UnclaimedRow = { source: string; delivery_id: string; total: number; id: string; cause: string; seen_at: Date }

/** Arrivals that made no claim, by what the sender calls them; read through `nameKey`. */
export async function readRefusals(
  client: pg.PoolClient,
  names: readonly DeliveryName[],
): Promise<(name: DeliveryName) => Refusals> {
  const parameters = [names.map((name) => name.deliveryId), names.map((name) => name.source), NEWEST]
  const refused = await client.query<RefusedRow>(
    `SELECT n.source, n.delivery_id, r.* FROM unnest($1::text[], $2::text[]) AS n (delivery_id, source)
     CROSS JOIN LATERAL (
       SELECT id, outcome, retry_after_ms, key_id, sender_attempt, instance, observed_at, count(*) OVER ()::int AS total
       FROM counterfoil.refused_observation r WHERE r.delivery_id = n.delivery_id AND r.source = n.source
       ORDER BY observed_at DESC LIMIT $3) r
     ORDER BY r.observed_at`,
    parameters,
  )
  const unclaimed = await client.query<UnclaimedRow>(
    `SELECT n.source, n.delivery_id, u.* FROM unnest($1::text[], $2::text[]) AS n (delivery_id, source)
     CROSS JOIN LATERAL (
       SELECT id, cause, seen_at, count(*) OVER ()::int AS total
       FROM counterfoil.unclaimed u WHERE u.delivery_id = n.delivery_id AND u.source = n.source
       ORDER BY seen_at DESC LIMIT $3) u
     ORDER BY u.seen_at`,
    parameters,
  )
  const refusedBy = groupBy(refused.rows, (row) => nameKey(row.source, row.delivery_id))
  const unclaimedBy = groupBy(unclaimed.rows, (row) => nameKey(row.source, row.delivery_id))
  return ({ source, deliveryId }) =>
    toRefusals(refusedBy.get(nameKey(source, deliveryId)) ?? [], unclaimedBy.get(nameKey(source, deliveryId)) ?? [])
}

/** PostgreSQL text holds no NUL, so it can part two of them. */
function nameKey(source: string, deliveryId: string): string {
  return `${source}\0${deliveryId}`
}

function toRefusals(refused: readonly RefusedRow[], unclaimed: readonly UnclaimedRow[]): Refusals {
  return {
    refused: refused[0]?.total ?? 0,
    refusals: refused.map((row) => ({
      id: row.id,
      outcome: row.outcome,
      retryAfterMs: row.retry_after_ms,
      keyId: row.key_id,
      senderAttempt: row.sender_attempt,
      instance: row.instance,
      observedAt: toMs(row.observed_at),
    })),
    unclaimedCount: unclaimed[0]?.total ?? 0,
    unclaimed: unclaimed.map((row) => ({ id: row.id, cause: row.cause, seenAt: toMs(row.seen_at) })),
  }
}
