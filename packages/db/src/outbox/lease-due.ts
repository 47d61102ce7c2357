import { performance } from 'node:perf_hooks'
import type { LeasedEntry } from '@counterfoil/core'
import type { Database } from '../connection/index.js'
import type { LeaseRequest } from './outbox-types.js'

/**
 * The limit is a subquery on purpose: the planner then counts on a share of the rows and reads `due_next` in order.
 * With a known number it expected few rows, read a bitmap and sorted, all 100k due rows for every lease.
 * `OFFSET 0` makes it look each entry up by its key: expecting that share, it read the whole index of `entry` instead,
 * 8 of 13 ms for a lease of 100 out of 40k.
 * `statement_timestamp()` is stable, so it bounds the index scan; `clock_timestamp()` would not.
 * `date_part` counts in float8. `extract` counts in numeric, whose way to float8 is through text.
 */
export const LEASE_DUE = `
WITH picked AS (
  SELECT ctid FROM counterfoil.due
   WHERE destination = $1 AND due_at <= statement_timestamp() AND due_at >= $6
   ORDER BY due_at
   LIMIT (
     SELECT CASE
              WHEN s.paused_reason IS NULL THEN $2::int
              WHEN s.paused_until IS NULL OR s.paused_until > statement_timestamp() THEN 0
              WHEN s.paused_reason IN ('operator', 'gone') THEN $2::int
              -- The pause is over, but only an answer ends it: one probe at a time.
              WHEN EXISTS (SELECT FROM counterfoil.lease l
                            WHERE l.destination = $1 AND l.opened_at >= s.paused_until) THEN 0
              ELSE 1
            END
       FROM (VALUES (1)) AS always LEFT JOIN counterfoil.destination_state s ON s.destination = $1)
   FOR UPDATE SKIP LOCKED
), moved AS (
  DELETE FROM counterfoil.due d USING picked p WHERE d.ctid = p.ctid
  RETURNING d.entry, d.due_at, d.attempts, d.tries, d.first_sent_at, d.uncertain_since
), leased AS (
  INSERT INTO counterfoil.lease
    (entry, destination, token, worker, attempt, tries, opened_at, expires_at, first_sent_at, uncertain_since,
     first_send)
  SELECT entry, $1, $3, $4, attempts + 1, tries, statement_timestamp(),
         statement_timestamp() + $5::int * interval '1 millisecond',
         coalesce(first_sent_at, statement_timestamp()), uncertain_since, first_sent_at IS NULL
    FROM moved
)
SELECT m.entry, m.attempts + 1 AS attempt, m.tries, e.delivery, e.idempotency_key, e.body, e.content_type,
       date_part('epoch', m.due_at) * 1000 AS due_at,
       (SELECT date_part('epoch', statement_timestamp()) * 1000) AS opened_at,
       date_part('epoch', m.first_sent_at) * 1000 AS first_sent_at,
       date_part('epoch', m.uncertain_since) * 1000 AS uncertain_since,
       date_part('epoch', coalesce(e.redriven_at, e.created_at)) * 1000 AS created_at
  FROM moved m
 CROSS JOIN LATERAL (SELECT * FROM counterfoil.entry WHERE id = m.entry OFFSET 0) e`

type LeasedRow = {
  entry: string
  attempt: number
  tries: number
  delivery: string
  idempotency_key: string
  body: Buffer
  content_type: string
  due_at: number
  opened_at: number
  /** Before this lease. */
  first_sent_at: number | null
  uncertain_since: number | null
  created_at: number
}

/**
 * Moves up to `limit` due entries of one destination into the hands of a worker, oldest due time first. One statement,
 * committed by itself: when it returns, the attempts are on record (I4), and no other worker has the same entries.
 *
 * A paused destination gives nothing. One whose pause for `credentials` or `throttled` is over gives one entry at a
 * time, a probe, until an answer clears the pause.
 *
 * @throws a `pg` error when the database fails. The rows may be leased all the same: hand them back by the token.
 */
export async function leaseDue(database: Database, request: LeaseRequest): Promise<readonly LeasedEntry[]> {
  const { destination, limit, token, worker, leaseMs, sendMarginMs, dueFrom } = request
  if (limit < 1) return []
  const askedAt = performance.now()
  const { rows } = await database.pool.query<LeasedRow>({
    name: 'lease_due',
    text: LEASE_DUE,
    values: [destination, limit, token, worker, leaseMs, dueFrom ?? '-infinity'],
  })
  const sendBefore = askedAt + leaseMs - sendMarginMs
  return rows.map((row) => toLeasedEntry(row, request, { askedAt, sendBefore }))
}

function toLeasedEntry(
  row: LeasedRow,
  { destination, token, leaseMs }: LeaseRequest,
  clock: { askedAt: number; sendBefore: number },
): LeasedEntry {
  return {
    id: row.entry,
    destination,
    idempotencyKey: row.idempotency_key,
    body: row.body,
    contentType: row.content_type,
    deliveryUuid: row.delivery,
    lease: {
      token,
      attempt: row.attempt,
      dueAt: row.due_at,
      openedAt: row.opened_at,
      expiresAt: row.opened_at + leaseMs,
      ...clock,
    },
    history: {
      attempts: row.attempt - 1,
      tries: row.tries,
      firstSentAt: row.first_sent_at ?? row.opened_at,
      uncertainSince: row.uncertain_since,
      createdAt: row.created_at,
    },
  }
}
