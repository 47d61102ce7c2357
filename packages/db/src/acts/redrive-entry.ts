import { judgeRedrive } from '@counterfoil/core'
import type pg from 'pg'
import type { Database } from '../connection/database.js'
import type { ActRefusal, ActRequest } from './act-result.js'
import type { DestinationContracts } from './destination-contracts.js'
import { type LockedEntry, lockEntry } from './lock-entry.js'
import { recordAct } from './record-act.js'
import { runAct } from './run-act.js'

export type Redriven = {
  readonly kind: 'redriven'
  readonly act: string
  readonly destination: string
  readonly idempotencyKey: string
  /** The number that its next attempt will have: they go on, they don't start again. */
  readonly nextAttempt: number
  readonly inDoubt: boolean
  /** In doubt, the destination recognises a repeat until then; `null`: for ever, or there is no doubt. */
  readonly protectedUntil: number | null
  /** It is pending again, but its destination is paused. */
  readonly paused: string | null
}

export type RedriveResult = Redriven | ActRefusal

/**
 * Returns an entry to pending: same key, same bytes (I3), attempt numbers go on, a fresh budget of tries. For dead
 * letters, for what was settled as not delivered, and for what is uncertain while its destination still recognises the
 * key: there the doubt goes along, and ends only by a definite answer (I6). `judgeRedrive` says which.
 */
export function redriveEntry(
  database: Database,
  entryId: string,
  request: ActRequest,
  destinations: DestinationContracts,
): Promise<RedriveResult> {
  return runAct<RedriveResult>(
    database,
    async (client) => {
      const locked = await lockEntry(client, entryId)
      return locked === null ? { kind: 'not_found' } : redriveLocked(client, locked, request, destinations)
    },
    (result) => result.kind === 'redriven',
  )
}

/** The same for an entry that the caller's transaction has locked. `detail` is written into the act. */
export async function redriveLocked(
  client: pg.PoolClient,
  { entry, readAt }: LockedEntry,
  request: ActRequest,
  destinations: DestinationContracts,
  detail: Readonly<Record<string, unknown>> = {},
): Promise<RedriveResult> {
  const contract = destinations.get(entry.destination) ?? 'removed'
  const judged = judgeRedrive({ entry, contract, now: readAt })
  if (judged.kind === 'unsafe') {
    const kind = entry.state === 'dead_lettered' || entry.state === 'settled' ? 'refused' : 'conflict'
    return { kind, state: entry.state, why: judged.why, next: judged.next }
  }
  const act = await recordAct(client, 'redrive', request, {
    entry: entry.id,
    delivery: entry.delivery,
    destination: entry.destination,
    detail: { from: entry.state, reason: entry.reason, to: 'pending', ...detail },
  })
  const attempts = await returnToDue(client, entry.id, judged.inDoubt)
  return {
    kind: 'redriven',
    act,
    destination: entry.destination,
    idempotencyKey: entry.idempotencyKey,
    nextAttempt: attempts + 1,
    inDoubt: judged.inDoubt,
    protectedUntil: judged.protectedUntil,
    paused: entry.pause?.reason ?? null,
  }
}

/** $2: its effect is in doubt, and the doubt travels with it. Returns how many attempts it has had. */
async function returnToDue(client: pg.PoolClient, entryId: string, inDoubt: boolean): Promise<number> {
  const { rows } = await client.query<{ attempts: number }>(
    `WITH doubt AS (
       SELECT CASE WHEN $2 THEN coalesce(uncertain_since, first_sent_at, closed_at) END AS since
       FROM counterfoil.entry WHERE id = $1
     ), returned AS (
       UPDATE counterfoil.entry SET state = 'pending', reason = NULL, repeat = NULL, closed_at = NULL, tries = 0,
              uncertain_since = NULL, redriven_at = clock_timestamp()
       WHERE id = $1 AND state IN ('dead_lettered', 'settled', 'uncertain')
       RETURNING id, destination, attempts, first_sent_at)
     INSERT INTO counterfoil.due (entry, destination, due_at, attempts, tries, first_sent_at, uncertain_since)
     SELECT id, destination, clock_timestamp(), attempts, 0, first_sent_at, doubt.since FROM returned, doubt
     RETURNING attempts`,
    [entryId, inDoubt],
  )
  const due = rows[0]
  if (due === undefined) throw new Error(`entry ${entryId} was locked and changed all the same`)
  return due.attempts
}
