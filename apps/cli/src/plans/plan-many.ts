import { makePlan, type PlanAction, type PlanFilter, readPlan, readPlanItems } from '@counterfoil/db'
import { CommandFailure } from '../terminal/command-failure.js'
import { EXIT } from '../terminal/exit-codes.js'
import { openAct } from '../terminal/open-act.js'
import type { Terminal } from '../terminal/terminal.js'
import { planDocument, renderPlan } from './render-plan.js'

export type PlanRequest = {
  readonly action: PlanAction
  readonly filter: PlanFilter
  readonly reason: string
  readonly json: boolean
}

/** One look at the whole table of entries may take a while. */
const PLAN_TIMEOUT_MS = 120_000

/** Freezes a plan and prints it as a dry run: nothing has changed yet. */
export async function planMany(terminal: Terminal, { action, filter, reason, json }: PlanRequest): Promise<void> {
  const made = await openAct(
    terminal,
    reason,
    async ({ database, request, config }) => {
      const result = await makePlan(database, action, filter, request, config.destinations)
      if (result.kind === 'nothing') return null
      const plan = await readPlan(database, result.plan)
      return plan === null ? null : { plan, items: await readPlanItems(database, plan.id) }
    },
    { statementTimeoutMs: PLAN_TIMEOUT_MS },
  )
  if (made === null) {
    throw new CommandFailure(
      EXIT.notFound,
      `no entry of ${filter.destination} is in a state to ${action.kind}, for that reason and in that time`,
      'look at what there is: counterfoil find --destination … --since …',
    )
  }
  const { plan, items } = made
  if (json) terminal.out(`${JSON.stringify(planDocument(plan, items), null, 2)}\n`)
  else terminal.out(renderPlan(plan, items))
}
