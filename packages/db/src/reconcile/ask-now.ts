import { judgeVerdict, wordAdvice } from '@counterfoil/core'
import type pg from 'pg'
import type { ActRefusal, ActRequest } from '../acts/act-result.js'
import { lockEntry } from '../acts/lock-entry.js'
import { recordAct } from '../acts/record-act.js'
import { runAct } from '../acts/run-act.js'
import type { Database } from '../connection/index.js'
import { ASK_LEASED, type AskedLookup, type AskedRow, toAsked } from './lookup-columns.js'

export type AskNowResult = { readonly kind: 'asked'; readonly act: string; readonly asked: AskedLookup } | ActRefusal

const LOCK_DOUBT = `
SELECT r.destination, e.delivery, r.leased_until > clock_timestamp() AS busy, r.held_at
  FROM counterfoil.reconciliation r JOIN counterfoil.entry e ON e.id = r.entry
 WHERE r.entry = $1 FOR UPDATE OF r`

/** A person's question is none of those that the contract bounds. */
const ASK_NOW = `
WITH leased AS (
  UPDATE counterfoil.reconciliation r
     SET token = gen_random_uuid(), leased_until = clock_timestamp() + $4::float8 * interval '1 millisecond'
   WHERE r.entry = $3
  RETURNING r.entry, r.token, r.destination, r.attempts, r.held_at
), ${ASK_LEASED}`

/**
 * A named person has the destination asked now: the act and the question are on record before the request leaves (I9).
 * Refused where nothing is in doubt any more, or somebody is asking at this moment.
 */
export function askNow(
  database: Database,
  entryId: string,
  request: ActRequest & { readonly leaseMs: number },
): Promise<AskNowResult> {
  return runAct<AskNowResult>(
    database,
    async (client) => {
      const doubt = (
        await client.query<{ destination: string; delivery: string; busy: boolean | null; held_at: Date }>(LOCK_DOUBT, [
          entryId,
        ])
      ).rows[0]
      if (doubt === undefined) return refuseSettled(client, entryId)
      if (doubt.busy === true) {
        const why = 'it is being asked about at this moment'
        return { kind: 'conflict', state: 'uncertain', why, next: `Look again: counterfoil show ${entryId}.` }
      }
      const detail = { held_at: doubt.held_at.toISOString() }
      const act = await recordAct(client, 'reconcile', request, {
        entry: entryId,
        delivery: doubt.delivery,
        destination: doubt.destination,
        detail,
      })
      const values = [request.actor, act, entryId, request.leaseMs]
      const [asked] = (await client.query<AskedRow>(ASK_NOW, values)).rows
      if (asked === undefined) throw new Error(`entry ${entryId} was locked and changed all the same`)
      return { kind: 'asked', act, asked: toAsked(asked) }
    },
    (result) => result.kind === 'asked',
  )
}

/** Why there is nothing to ask about an entry, and what to do instead. */
export function explainNoDoubt(database: Database, entryId: string): Promise<ActRefusal> {
  return runAct(
    database,
    (client) => refuseSettled(client, entryId),
    () => false,
  )
}

async function refuseSettled(client: pg.PoolClient, entryId: string): Promise<ActRefusal> {
  const locked = await lockEntry(client, entryId)
  if (locked === null) return { kind: 'not_found' }
  const { entry, readAt } = locked
  const verdict = judgeVerdict({ kind: 'entry', entry, readAt })
  const why = `it is not held as uncertain: ${verdict.label}`
  return { kind: 'conflict', state: entry.state, why, next: wordAdvice(verdict.advice) }
}
