import type { PlannedTransition } from '@counterfoil/core'
import type { Knex } from 'knex'
import type { ClientBase } from 'pg'
import type { StoredDelivery } from '../intake-options.js'
import { type DecidedStep, decideDelivery, type SubjectLock } from '../transition/decide-delivery.js'
import type { FindTable } from '../transition/find-subject-table.js'
import { lockSubjects } from '../transition/lock-subjects.js'
import { openTransaction } from '../transition/open-transaction.js'
import { postponeDeferred, removeDeferred, takeDeferred } from './deferred-rows.js'

export type AloneTools = {
  readonly newId: () => string
  readonly findTable: FindTable
  readonly timeoutMs: number
}

export type AloneDecision =
  | DecidedStep
  | { readonly kind: 'postponed' }
  | { readonly kind: 'held' }
  | { readonly kind: 'gone' }

/** Decides one deferred delivery in a transaction of its own, where the owner's functions may run. */
export async function decideDeferredAlone(
  client: ClientBase,
  knex: Knex,
  deliveryUuid: string,
  delivery: StoredDelivery,
  planned: PlannedTransition,
  tools: AloneTools,
): Promise<AloneDecision> {
  const transaction = await openTransaction(client, knex, tools.timeoutMs)
  try {
    const decision = await decide(client, transaction.trx, deliveryUuid, delivery, planned, tools)
    const rollsBack = decision.kind === 'broken' || decision.kind === 'held' || decision.kind === 'gone'
    await (rollsBack ? transaction.rollback() : transaction.commit())
    return decision
  } catch (error) {
    await transaction.rollback().catch(() => {})
    throw error
  }
}

async function decide(
  client: ClientBase,
  trx: Knex.Transaction,
  deliveryUuid: string,
  delivery: StoredDelivery,
  planned: PlannedTransition,
  tools: AloneTools,
): Promise<AloneDecision> {
  const taken = await takeDeferred(client, [deliveryUuid])
  if (!taken.has(deliveryUuid)) return { kind: 'gone' }
  const lock = await lockPlanned(client, planned, tools.findTable)
  if (lock === 'held') return { kind: 'held' }
  const asker = { deliveryUuid, source: delivery.source, deliveryId: delivery.deliveryId }
  // "Refuse" is how this judge says "not yet" without writing an outcome down.
  const step = await decideDelivery(client, trx, asker, { ...planned, notDue: 'refuse' }, lock, {
    ...tools,
    decidedBy: 'deferral',
  })
  if (step.kind === 'refused') {
    await postponeDeferred(client, [{ deliveryUuid, ms: Math.max(1, step.retryAfterMs) }])
    return { kind: 'postponed' }
  }
  if (step.kind === 'decided') await removeDeferred(client, [deliveryUuid])
  return step
}

async function lockPlanned(
  client: ClientBase,
  planned: PlannedTransition,
  findTable: FindTable,
): Promise<SubjectLock | null | 'held'> {
  if (planned.transition.kind === 'custom') return null
  const table = await findTable(client, planned.transition)
  const id = table.toId(planned.subject)
  const locked = await lockSubjects(client, table, id === null ? [] : [id], false)
  if (locked.skipped.size > 0) return 'held'
  return { table, rows: new Map(locked.rows) }
}
