import { judgeCancel } from '@counterfoil/core'
import type pg from 'pg'
import type { Database } from '../connection/database.js'
import type { ActRefusal, ActRequest } from './act-result.js'
import { endEntry } from './end-entry.js'
import { type LockedEntry, lockEntry } from './lock-entry.js'
import { recordAct } from './record-act.js'
import { runAct } from './run-act.js'

export type CancelResult =
  | { readonly kind: 'cancelled'; readonly act: string; readonly destination: string; readonly attempts: number }
  | ActRefusal

/** A person stops an entry that waits to be sent and of which nothing can have taken effect. It is final. */
export function cancelEntry(database: Database, entryId: string, request: ActRequest): Promise<CancelResult> {
  return runAct<CancelResult>(
    database,
    async (client) => {
      const locked = await lockEntry(client, entryId)
      return locked === null ? { kind: 'not_found' } : cancelLocked(client, locked, request)
    },
    (result) => result.kind === 'cancelled',
  )
}

/** The same for an entry that the caller's transaction has locked. `detail` is written into the act. */
export async function cancelLocked(
  client: pg.PoolClient,
  { entry, readAt }: LockedEntry,
  request: ActRequest,
  detail: Readonly<Record<string, unknown>> = {},
): Promise<CancelResult> {
  const judged = judgeCancel(entry, readAt)
  if (judged.kind !== 'allowed') return { kind: judged.kind, state: entry.state, why: judged.why, next: judged.next }
  const act = await recordAct(client, 'cancel', request, {
    entry: entry.id,
    delivery: entry.delivery,
    destination: entry.destination,
    detail: { from: entry.position.kind, to: 'cancelled', ...detail },
  })
  await endEntry(client, entry.id, { state: 'cancelled', reason: 'by_person' })
  return { kind: 'cancelled', act, destination: entry.destination, attempts: entry.attempts.length }
}
