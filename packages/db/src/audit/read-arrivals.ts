import type { AckOnRecord, ArrivalCounts, ObservedArrival } from '@counterfoil/core'
import type pg from 'pg'
import { groupBy, toMs } from './read-snapshot.js'

/** How many arrivals of one delivery are listed: the first ones and the newest; the counts are always exact. */
const FIRST = 20
const NEWEST = 180

export type Arrivals = {
  readonly counts: Omit<ArrivalCounts, 'refused'>
  readonly observations: readonly ObservedArrival[]
  readonly acks: readonly AckOnRecord[]
  readonly cut: boolean
}

type CountRow = { delivery: string; observed: number; duplicates: number; conflicts: number }
type ArrivalRow = {
  delivery: string
  id: string
  kind: ObservedArrival['kind']
  key_id: string
  sender_attempt: number | null
  instance: string
  observed_at: Date
  status: number | null
  result: AckOnRecord['result'] | null
  answered_at: Date | null
}

/** Arrivals of these deliveries with what each was answered. */
export async function readArrivals(
  client: pg.PoolClient,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Arrivals>> {
  const counted = await client.query<CountRow>(
    `SELECT delivery, count(*)::int AS observed, (count(*) FILTER (WHERE kind = 'duplicate'))::int AS duplicates,
            (count(*) FILTER (WHERE kind = 'conflict'))::int AS conflicts
     FROM counterfoil.observation WHERE delivery = ANY($1::uuid[]) GROUP BY delivery`,
    [ids],
  )
  const listed = await client.query<ArrivalRow>(
    `SELECT o.delivery, o.id, o.kind, o.key_id, o.sender_attempt, o.instance, o.observed_at,
            a.status, a.result, a.answered_at
     FROM (SELECT * FROM unnest($1::uuid[], $2::int[]) AS c (delivery, observed)) c
     JOIN counterfoil.observation o ON o.delivery = c.delivery AND (o.number <= $3 OR o.number > c.observed - $4)
     LEFT JOIN counterfoil.ack a ON a.delivery = o.delivery AND a.observation = o.id
     ORDER BY o.delivery, o.number`,
    [counted.rows.map((row) => row.delivery), counted.rows.map((row) => row.observed), FIRST, NEWEST],
  )
  const groups = groupBy(listed.rows, (row) => row.delivery)
  return new Map(counted.rows.map((row) => [row.delivery, toArrivals(row, groups.get(row.delivery) ?? [])]))
}

function toArrivals(counts: CountRow, rows: readonly ArrivalRow[]): Arrivals {
  const { observed, duplicates, conflicts } = counts
  return {
    counts: { observed, duplicates, conflicts },
    observations: rows.map((row) => ({
      id: row.id,
      kind: row.kind,
      keyId: row.key_id,
      senderAttempt: row.sender_attempt,
      instance: row.instance,
      observedAt: toMs(row.observed_at),
    })),
    acks: rows.flatMap((row) =>
      row.status === null || row.result === null || row.answered_at === null
        ? []
        : [{ observation: row.id, status: row.status, result: row.result, answeredAt: toMs(row.answered_at) }],
    ),
    cut: observed > rows.length,
  }
}
