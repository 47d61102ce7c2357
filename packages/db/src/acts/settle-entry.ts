import { type EntryTimeline, judgeVerdict, wordAdvice } from '@counterfoil/core'
import type pg from 'pg'
import type { Database } from '../connection/database.js'
import type { ActRefusal, ActRequest } from './act-result.js'
import { lockEntry } from './lock-entry.js'
import { recordAct } from './record-act.js'
import { runAct } from './run-act.js'

export type Settlement = ActRequest & {
  readonly as: 'delivered' | 'not_delivered'
  /** What the person looked at: a message id, a link, an answer of the destination's support. */
  readonly evidence: string
  /** The newest attempt that the person had seen, so that a decision on an older picture is refused; `null` skips it. */
  readonly seenAttempt: number | null
}

export type SettleResult =
  | { readonly kind: 'settled'; readonly act: string; readonly as: Settlement['as']; readonly destination: string }
  | ActRefusal

/** A named person closes an uncertain entry with evidence (I6). Only one of two at once does; the other sees a conflict. */
export function settleEntry(database: Database, entryId: string, settlement: Settlement): Promise<SettleResult> {
  return runAct(
    database,
    (client) => settle(client, entryId, settlement),
    (result) => result.kind === 'settled',
  )
}

async function settle(client: pg.PoolClient, entryId: string, settlement: Settlement): Promise<SettleResult> {
  const locked = await lockEntry(client, entryId)
  if (locked === null) return { kind: 'not_found' }
  const { entry, readAt } = locked
  const refusal = judgeSettle(entry, readAt, settlement)
  if (refusal !== null) return refusal

  const act = await recordAct(client, 'settle', settlement, {
    entry: entry.id,
    delivery: entry.delivery,
    destination: entry.destination,
    detail: { from: entry.state, reason: entry.reason, as: settlement.as, evidence: settlement.evidence },
  })
  await client.query(
    `UPDATE counterfoil.entry SET state = 'settled', reason = $2, closed_at = clock_timestamp()
     WHERE id = $1 AND state = 'uncertain'`,
    [entry.id, settlement.as],
  )
  return { kind: 'settled', act, as: settlement.as, destination: entry.destination }
}

function judgeSettle(entry: EntryTimeline, readAt: number, settlement: Settlement): ActRefusal | null {
  const { state } = entry
  const newest = Math.max(0, ...entry.attempts.map((attempt) => attempt.number))
  if (state === 'uncertain') {
    if (settlement.seenAttempt === null || settlement.seenAttempt === newest) return null
    const why = `there is an attempt ${newest} that you had not seen`
    return { kind: 'conflict', state, why, next: `Look again: counterfoil show ${entry.id}.` }
  }
  if (state === 'settled') {
    const by = entry.acts.filter((act) => act.action === 'settle').at(-1)?.actor ?? 'somebody'
    const why = `${by} has already settled it as ${entry.reason === 'delivered' ? 'delivered' : 'not delivered'}`
    return { kind: 'conflict', state, why, next: `Look again: counterfoil show ${entry.id}.` }
  }
  const verdict = judgeVerdict({ kind: 'entry', entry, readAt })
  const why = `it is not held as uncertain: ${verdict.label}`
  return { kind: 'conflict', state, why, next: wordAdvice(verdict.advice) }
}
