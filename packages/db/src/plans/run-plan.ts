import { setTimeout as sleep } from 'node:timers/promises'
import { judgePlanRun, type PlanPace, type PlanProgress } from '@counterfoil/core'
import type { ActRequest } from '../acts/act-result.js'
import type { DestinationContracts } from '../acts/destination-contracts.js'
import { recordAct } from '../acts/record-act.js'
import { runAct } from '../acts/run-act.js'
import type { Database } from '../connection/database.js'
import { runAsOnlyRunner } from './plan-lock.js'
import type { PlanOnRecord, PlanStatus } from './plan-types.js'
import { readOrder } from './read-order.js'
import { readAction, readPlan } from './read-plan.js'
import { readProgress } from './read-progress.js'
import { recordPlanEvent } from './record-plan-event.js'
import { type ItemResult, type PlanRun, runNextItem } from './run-item.js'

export type RunPlanOptions = PlanPace & {
  readonly destinations: DestinationContracts
  readonly signal: AbortSignal
  /** Told after each item and whenever the runner waits. */
  readonly onItem?: (item: ItemResult) => void
}

export type RunEnd = Exclude<PlanStatus, 'ready' | 'running'>

export type RunPlanResult =
  | { readonly kind: 'ended'; readonly as: RunEnd; readonly progress: PlanProgress }
  | { readonly kind: 'not_found' }
  /** Somebody is running it. */
  | { readonly kind: 'running' }
  /** Each of its items has a result. */
  | { readonly kind: 'nothing_left' }

/** How often it is looked at what became of the entries. */
const LOOK_MS = 200

/**
 * Does what is left of a plan, one item after the other at its pace. Killed at any point it can be run again, and goes
 * on after the last item that has a result. Never two at once: a lock of the database session says who runs it, and a
 * runner that has lost the lock finds the newer run and ends.
 *
 * @param request who runs it, and why
 * @throws what the database throws; the plan can be run again
 */
export async function runPlan(
  database: Database,
  planId: string,
  request: ActRequest,
  options: RunPlanOptions,
): Promise<RunPlanResult> {
  const plan = await readPlan(database, planId)
  if (plan === null) return { kind: 'not_found' }
  let result: RunPlanResult = { kind: 'nothing_left' }
  const isOnly = await runAsOnlyRunner(database, planId, async () => {
    const progress = await readProgress(database.pool, planId, null)
    if (progress.remaining > 0) result = await runToEnd(database, plan, request, options)
  })
  return isOnly ? result : { kind: 'running' }
}

async function runToEnd(
  database: Database,
  plan: PlanOnRecord,
  request: ActRequest,
  options: RunPlanOptions,
): Promise<RunPlanResult> {
  const { destinations } = options
  const run = await beginRun(database, plan, request)
  const hasPassed = plan.events.some((event) => event.kind === 'canary_passed')
  const as = await drive(
    database,
    { plan: plan.id, run, action: readAction(plan), request, destinations },
    options,
    hasPassed,
  )
  // A run that was taken over leaves the last word to the one that took over.
  if (as !== 'superseded') {
    await writeEvent(database, plan.id, { kind: 'end', detail: as, actor: request.actor, act: null })
  }
  return { kind: 'ended', as, progress: await readProgress(database.pool, plan.id, null) }
}

async function drive(database: Database, run: PlanRun, options: RunPlanOptions, hasPassed: boolean): Promise<RunEnd> {
  const { signal } = options
  let canary = hasPassed || options.canary === 0 ? null : { run: run.run, size: options.canary }
  let outSince: number | null = null
  let seen: { readonly progress: PlanProgress; readonly at: number } | null = null
  while (!signal.aborted) {
    // A canary is counted at every step; the many after it often enough for the stop rule.
    if (seen === null || canary !== null || performance.now() - seen.at >= LOOK_MS) {
      seen = { progress: await readProgress(database.pool, run.plan, canary), at: performance.now() }
    }
    const step = judgePlanRun(seen.progress, options, outSince === null ? 0 : performance.now() - outSince)
    switch (step.kind) {
      case 'end':
        return step.as
      case 'canary_passed': {
        canary = null
        seen = null
        const event = { kind: 'canary_passed', detail: null, actor: run.request.actor, act: null } as const
        await writeEvent(database, run.plan, event)
        break
      }
      case 'wait_for_canary': {
        outSince ??= performance.now()
        const order = await readOrder(database.pool, run.plan, run.run)
        if (order !== null) return order
        await pause(LOOK_MS, signal)
        break
      }
      case 'go_on': {
        const item = await runNextItem(database, run)
        options.onItem?.(item)
        if (item.kind === 'stopped' || item.kind === 'superseded') return item.kind
        if (item.kind === 'none_left') seen = null
        if (item.kind === 'done') await pause(1000 / options.perSecond, signal)
        break
      }
    }
  }
  return 'interrupted'
}

function beginRun(database: Database, plan: PlanOnRecord, request: ActRequest): Promise<number> {
  const detail = { step: 'run', plan: plan.id, action: plan.action }
  return runAct(
    database,
    async (client) => {
      const act = await recordAct(client, 'bulk', request, { destination: plan.filter.destination, detail })
      const event = { kind: 'run', detail: null, actor: request.actor, act } as const
      return { kind: 'begun' as const, number: await recordPlanEvent(client, plan.id, event) }
    },
    () => true,
  ).then(({ number }) => number)
}

async function writeEvent(
  database: Database,
  plan: string,
  event: Parameters<typeof recordPlanEvent>[2],
): Promise<void> {
  await runAct(
    database,
    async (client) => ({ kind: 'written', number: await recordPlanEvent(client, plan, event) }),
    () => true,
  )
}

/** Ends early when it is interrupted. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {})
}
