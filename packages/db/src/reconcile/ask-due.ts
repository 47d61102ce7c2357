import type { Database } from '../connection/index.js'
import { inTransaction } from '../outbox/in-transaction.js'
import { ASK_LEASED, type AskedLookup, type AskedRow, toAsked } from './lookup-columns.js'

export type AskRequest = {
  readonly destination: string
  /** Most questions that this process may add. */
  readonly limit: number
  /** Most questions that may be open at this destination, over the whole fleet. */
  readonly concurrency: number
  /** How long after the hold nothing is asked yet, ms. */
  readonly quietMs: number
  /** Longer than a question takes: whoever doesn't report back until then is taken for dead. */
  readonly leaseMs: number
  /** Should whoever asks die, the next question comes no earlier than this, ms. */
  readonly gapMs: number
  readonly maxProbes: number
  readonly worker: string
}

/** Makes those who ask one destination take turns, so that the open questions they count are all there are. */
const TAKE_TURN = `SELECT pg_advisory_xact_lock(hashtextextended('counterfoil reconcile ' || $1, 0))`

const ASK_DUE = `
WITH picked AS MATERIALIZED (
  SELECT r.entry FROM counterfoil.reconciliation r
   WHERE r.destination = $3 AND r.next_at <= clock_timestamp()
     AND r.held_at <= clock_timestamp() - $4::float8 * interval '1 millisecond'
     AND (r.leased_until IS NULL OR r.leased_until <= clock_timestamp())
     AND r.probes < $5
     -- A question is a request like any other: a destination that is paused gets none.
     AND NOT EXISTS (SELECT FROM counterfoil.destination_state s WHERE s.destination = $3
                      AND s.paused_reason IS NOT NULL
                      AND (s.paused_until IS NULL OR s.paused_until > clock_timestamp()))
   ORDER BY r.next_at
   LIMIT least($6::int, greatest(0, $7::int - (SELECT count(*)::int FROM counterfoil.reconciliation o
                                     WHERE o.destination = $3 AND o.leased_until > clock_timestamp())))
     FOR UPDATE SKIP LOCKED
), leased AS (
  UPDATE counterfoil.reconciliation r
     SET token = gen_random_uuid(), leased_until = clock_timestamp() + $8::float8 * interval '1 millisecond',
         probes = r.probes + 1, next_at = clock_timestamp() + $9::float8 * interval '1 millisecond'
    FROM picked p WHERE r.entry = p.entry
  RETURNING r.entry, r.token, r.destination, r.attempts, r.held_at
), ${ASK_LEASED}`

/**
 * Takes doubts that are to be asked about now, and puts each question on record before its request leaves. Nobody else
 * asks about them until the lease ends. Never more at a time than `concurrency`, whoever asks.
 */
export function askDue(database: Database, request: AskRequest): Promise<readonly AskedLookup[]> {
  const { destination, limit, concurrency, quietMs, leaseMs, gapMs, maxProbes, worker } = request
  return inTransaction(database, async (client) => {
    await client.query(TAKE_TURN, [destination])
    const values = [worker, null, destination, quietMs, maxProbes, limit, concurrency, leaseMs, gapMs]
    return (await client.query<AskedRow>(ASK_DUE, values)).rows.map(toAsked)
  })
}
