import type { ClientBase } from 'pg'
import type { ConditionalAsk, ConditionalDecision } from '../transition/decide-conditional.js'
import { decideConditional } from '../transition/decide-conditional.js'
import { type LockedSubjects, lockSubjects } from '../transition/lock-subjects.js'
import type { SubjectTable } from '../transition/subject-table.js'
import { writeDecisions } from '../transition/write-decisions.js'
import { postponeDeferred, removeDeferred, takeDeferred } from './deferred-rows.js'

/** How long a delivery waits whose row a stranger holds. */
export const HELD_PAUSE_MS = 1_000
/** How long one waits that can't be decided for our own fault. */
export const FAILED_PAUSE_MS = 60_000

export type GroupResult = {
  readonly decided: readonly ConditionalDecision[]
  readonly postponed: number
  readonly skipped: number
  readonly broken: number
  readonly destinations: readonly string[]
}

/** Decides deferred deliveries of one conditional update in one transaction, with the push's own judge. Waits for no row. */
export async function decideDeferredGroup(
  client: ClientBase,
  table: SubjectTable,
  asks: readonly ConditionalAsk[],
  newId: () => string,
): Promise<GroupResult> {
  await client.query('BEGIN')
  const taken = await takeDeferred(
    client,
    asks.map((ask) => ask.deliveryUuid),
  )
  const mine = asks.filter((ask) => taken.has(ask.deliveryUuid))
  const ids = [...new Set(mine.flatMap((ask) => ask.id ?? []))]
  const locked = await lockSubjects(client, table, ids, false)
  const held = mine.filter((ask) => isHeld(ask, locked))
  const free = mine.filter((ask) => !isHeld(ask, locked))
  const decisions = decideConditional(table.transition, free, locked.rows, newId)
  const broken = decisions.filter((decision) => decision.broken !== null)
  const early = decisions.filter((decision) => decision.outcome === 'not_due')
  const final = decisions.filter((decision) => decision.broken === null && decision.outcome !== 'not_due')
  const written = await writeDecisions(client, table, 'deferral', final)
  await removeDeferred(
    client,
    final.map(({ ask }) => ask.deliveryUuid),
  )
  await postponeDeferred(client, [
    ...held.map((ask) => ({ deliveryUuid: ask.deliveryUuid, ms: HELD_PAUSE_MS })),
    ...broken.map(({ ask }) => ({ deliveryUuid: ask.deliveryUuid, ms: FAILED_PAUSE_MS })),
    ...early.map(({ ask, row }) => ({ deliveryUuid: ask.deliveryUuid, ms: Math.max(1, row?.remainingMs ?? 1) })),
  ])
  await client.query('COMMIT')
  return {
    decided: final,
    postponed: early.length,
    skipped: held.length,
    broken: broken.length,
    destinations: [...new Set(written.map(({ entry }) => entry.destination))],
  }
}

function isHeld(ask: ConditionalAsk, locked: LockedSubjects): boolean {
  return ask.id !== null && locked.skipped.has(ask.id)
}
