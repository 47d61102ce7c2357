import { type EntryTimeline, judgeVerdict, type Verdict, wordAdvice } from '@counterfoil/core'
import type pg from 'pg'
import type { Database } from '../connection/database.js'
import type { ActRefusal, ActRequest } from './act-result.js'
import { lockEntry } from './lock-entry.js'
import { recordAct } from './record-act.js'
import { runAct } from './run-act.js'

export type RedriveResult =
  | {
      readonly kind: 'redriven'
      readonly act: string
      readonly destination: string
      readonly idempotencyKey: string
      /** The number that its next attempt will have: they go on, they don't start again. */
      readonly nextAttempt: number
      /** It is pending again, but its destination is paused. */
      readonly paused: string | null
    }
  | ActRefusal

/**
 * Returns a dead letter to pending: same key, same bytes (I3), attempt numbers go on, a fresh budget of tries. So does
 * an entry that was settled as not delivered. Refused wherever anything sent may have taken effect (I6).
 */
export function redriveEntry(database: Database, entryId: string, request: ActRequest): Promise<RedriveResult> {
  return runAct(
    database,
    (client) => redrive(client, entryId, request),
    (result) => result.kind === 'redriven',
  )
}

async function redrive(client: pg.PoolClient, entryId: string, request: ActRequest): Promise<RedriveResult> {
  const locked = await lockEntry(client, entryId)
  if (locked === null) return { kind: 'not_found' }
  const { entry, readAt } = locked
  const verdict = judgeVerdict({ kind: 'entry', entry, readAt })
  const refusal = judgeRedrive(entry, verdict)
  if (refusal !== null) return refusal

  const act = await recordAct(client, 'redrive', request, {
    entry: entry.id,
    delivery: entry.delivery,
    destination: entry.destination,
    detail: { from: entry.state, reason: entry.reason, to: 'pending' },
  })
  const { rows } = await client.query<{ attempts: number }>(
    `WITH returned AS (
       UPDATE counterfoil.entry SET state = 'pending', reason = NULL, repeat = NULL, closed_at = NULL, tries = 0,
              uncertain_since = NULL, redriven_at = clock_timestamp()
       WHERE id = $1 AND state IN ('dead_lettered', 'settled')
       RETURNING id, destination, attempts, first_sent_at)
     INSERT INTO counterfoil.due (entry, destination, due_at, attempts, tries, first_sent_at, uncertain_since)
     SELECT id, destination, clock_timestamp(), attempts, 0, first_sent_at, NULL FROM returned
     RETURNING attempts`,
    [entry.id],
  )
  const due = rows[0]
  if (due === undefined) throw new Error(`entry ${entry.id} was locked and changed all the same`)
  return {
    kind: 'redriven',
    act,
    destination: entry.destination,
    idempotencyKey: entry.idempotencyKey,
    nextAttempt: due.attempts + 1,
    paused: entry.pause?.reason ?? null,
  }
}

/** The verdict says whether it is safe; the words are for whoever asked. */
function judgeRedrive(entry: EntryTimeline, verdict: Verdict): ActRefusal | null {
  if (verdict.advice.redrive.safe) return null
  const kind = entry.state === 'dead_lettered' || entry.state === 'settled' ? 'refused' : 'conflict'
  return { kind, state: entry.state, why: verdict.advice.redrive.why, next: wordAdvice(verdict.advice) }
}
