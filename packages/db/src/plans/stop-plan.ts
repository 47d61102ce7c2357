import type { ActRequest } from '../acts/act-result.js'
import { recordAct } from '../acts/record-act.js'
import { runAct } from '../acts/run-act.js'
import type { Database } from '../connection/database.js'
import { readPlan } from './read-plan.js'
import { recordPlanEvent } from './record-plan-event.js'

export type StopPlanResult =
  | { readonly kind: 'stopping'; readonly act: string }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'not_running'; readonly status: string }

/** Asks the run of a plan to stop: it does no further item. It can be run again, and then goes on where it stopped. */
export async function stopPlan(database: Database, planId: string, request: ActRequest): Promise<StopPlanResult> {
  const plan = await readPlan(database, planId)
  if (plan === null) return { kind: 'not_found' }
  if (plan.status !== 'running') return { kind: 'not_running', status: plan.status }
  return runAct<StopPlanResult>(
    database,
    async (client) => {
      const detail = { step: 'stop', plan: planId }
      const act = await recordAct(client, 'bulk', request, { destination: plan.filter.destination, detail })
      await recordPlanEvent(client, planId, { kind: 'stop', detail: null, actor: request.actor, act })
      return { kind: 'stopping', act }
    },
    () => true,
  )
}
