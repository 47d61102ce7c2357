import { judgeSettle } from '@counterfoil/core'
import type pg from 'pg'
import type { Database } from '../connection/database.js'
import type { ActRefusal, ActRequest } from './act-result.js'
import { endEntry } from './end-entry.js'
import { type LockedEntry, lockEntry } from './lock-entry.js'
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

/**
 * A named person closes the doubt about an entry with evidence (I6). Only one of two at once does; the other sees a
 * conflict. An entry that waits with its doubt open leaves the queue with it.
 */
export function settleEntry(database: Database, entryId: string, settlement: Settlement): Promise<SettleResult> {
  return runAct<SettleResult>(
    database,
    async (client) => {
      const locked = await lockEntry(client, entryId)
      return locked === null ? { kind: 'not_found' } : settleLocked(client, locked, settlement)
    },
    (result) => result.kind === 'settled',
  )
}

/** The same for an entry that the caller's transaction has locked. `detail` is written into the act. */
export async function settleLocked(
  client: pg.PoolClient,
  { entry, readAt }: LockedEntry,
  settlement: Settlement,
  detail: Readonly<Record<string, unknown>> = {},
): Promise<SettleResult> {
  const judged = judgeSettle(entry, readAt, settlement.seenAttempt)
  if (judged.kind !== 'allowed') return { kind: judged.kind, state: entry.state, why: judged.why, next: judged.next }
  const { as, evidence } = settlement
  const act = await recordAct(client, 'settle', settlement, {
    entry: entry.id,
    delivery: entry.delivery,
    destination: entry.destination,
    detail: { from: entry.state, reason: entry.reason, as, evidence, ...detail },
  })
  await endEntry(client, entry.id, { state: 'settled', reason: as })
  return { kind: 'settled', act, as, destination: entry.destination }
}
