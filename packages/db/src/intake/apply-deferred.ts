import { randomFillSync } from 'node:crypto'
import { type ConditionalUpdate, createUuidV7Generator, type PlannedTransition } from '@counterfoil/core'
import type { Database } from '../connection/database.js'
import { useClient } from '../connection/use-client.js'
import { decideDeferredAlone } from './deferral/decide-deferred-alone.js'
import { decideDeferredGroup, FAILED_PAUSE_MS, HELD_PAUSE_MS } from './deferral/decide-deferred-group.js'
import { countDecided, type DeferralCount, finishCount, startCount } from './deferral/deferral-count.js'
import { type DeferredRow, findDueDeferred, postponeDeferred } from './deferral/deferred-rows.js'
import type { DeferredResult, PlanAgain } from './intake-options.js'
import { createTableFinder } from './transition/find-subject-table.js'
import { toAsk } from './transition/land-transitions.js'

const ALONE_TIMEOUT_MS = 5_000
const CLIENT_BOUND_MS = 15_000

type Planned = DeferredRow & { readonly planned: PlannedTransition }

/**
 * Decides deliveries whose time has come by the database clock, with the push's own judge; at most `limit` in one call.
 * Conditional updates share a transaction per table; where the owner's code runs, each has its own. A delivery that
 * can't be decided waits again, so that it never fills the page of the others. Throws when the database is away.
 */
export async function applyDeferred(
  database: Database,
  options: { readonly limit: number; readonly plan: PlanAgain },
): Promise<DeferredResult> {
  const count = startCount()
  const groups = new Map<ConditionalUpdate, Planned[]>()
  const alone: Planned[] = []
  const unplanned: string[] = []
  for (const row of await findDueDeferred(database, options.limit)) {
    const planned = row.delivery === null ? null : options.plan(row.delivery)
    if (planned === null) unplanned.push(row.deliveryUuid)
    else if (planned.transition.kind === 'custom' || planned.transition.onApplied !== undefined) {
      alone.push({ ...row, planned })
    } else {
      groups.set(planned.transition, [...(groups.get(planned.transition) ?? []), { ...row, planned }])
    }
  }
  const run = createRunner(database, count)
  for (const [transition, rows] of groups) await run.group(transition, rows)
  for (const row of alone) await run.alone(row)
  await postpone(database, unplanned, FAILED_PAUSE_MS)
  count.failed += unplanned.length
  return finishCount(count)
}

function createRunner(database: Database, count: DeferralCount) {
  const newId = createUuidV7Generator({ now: Date.now, fillRandom: (pool) => void randomFillSync(pool) })
  const findTable = createTableFinder()

  async function group(transition: ConditionalUpdate, rows: readonly Planned[]): Promise<void> {
    const result = await useClient(database, CLIENT_BOUND_MS, async (client) => {
      const table = await findTable(client, transition)
      const asks = rows.map((row) => toAsk(row.deliveryUuid, row.planned, table))
      return decideDeferredGroup(client, table, asks, newId)
    })
    if (result.kind === 'done') {
      for (const decision of result.value.decided) countDecided(count, decision.outcome)
      for (const destination of result.value.destinations) count.destinations.add(destination)
      count.postponed += result.value.postponed
      count.skipped += result.value.skipped
      count.failed += result.value.broken
      return
    }
    if (result.failure.kind === 'connection' || result.failure.kind === 'read_only') throw result.error
    // One of them spoils it for all: find it by trying each.
    if (rows.length > 1) for (const row of rows) await group(transition, [row])
    else await fail(rows.map((row) => row.deliveryUuid))
  }

  async function alone({ deliveryUuid, delivery, planned }: Planned): Promise<void> {
    if (delivery === null) return
    const tools = { newId, findTable, timeoutMs: ALONE_TIMEOUT_MS }
    const result = await useClient(database, ALONE_TIMEOUT_MS + CLIENT_BOUND_MS, (client) =>
      decideDeferredAlone(client, database.knex, deliveryUuid, delivery, planned, tools),
    )
    if (result.kind === 'failed') {
      if (result.failure.kind === 'connection' || result.failure.kind === 'read_only') throw result.error
      return fail([deliveryUuid])
    }
    switch (result.value.kind) {
      case 'decided':
        countDecided(count, result.value.outcome)
        for (const { entry } of result.value.written) count.destinations.add(entry.destination)
        return
      case 'postponed':
        count.postponed += 1
        return
      case 'held':
        count.skipped += 1
        return postpone(database, [deliveryUuid], HELD_PAUSE_MS)
      case 'broken':
        return fail([deliveryUuid])
    }
  }

  async function fail(deliveries: readonly string[]): Promise<void> {
    count.failed += deliveries.length
    await postpone(database, deliveries, FAILED_PAUSE_MS)
  }

  return { group, alone }
}

function postpone(database: Database, deliveries: readonly string[], ms: number): Promise<void> {
  return postponeDeferred(
    database.pool,
    deliveries.map((deliveryUuid) => ({ deliveryUuid, ms })),
  )
}
