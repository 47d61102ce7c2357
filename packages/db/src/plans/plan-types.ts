import type { PlanProgress } from '@counterfoil/core'

export type PlanAction =
  | { readonly kind: 'redrive' }
  | { readonly kind: 'settle'; readonly as: 'delivered' | 'not_delivered'; readonly evidence: string }
  | { readonly kind: 'cancel' }

/** Which entries a plan looks at. Times are epoch ms, of when an entry ended; of when it was made while it is pending. */
export type PlanFilter = {
  readonly destination: string
  /** Reasons for which an entry stands where it stands; `null`: any. */
  readonly reasons: readonly string[] | null
  readonly since: number | null
  readonly until: number | null
  /** Most entries. What is beyond is left out, and the plan says so. */
  readonly limit: number
}

export type PlanGroup = { readonly state: string; readonly reason: string | null; readonly count: number }
export type PlanExclusion = { readonly because: string; readonly why: string; readonly count: number }

/**
 * `ready`: never run. `interrupted`: its last run was killed or lost its database, and it can be run again.
 * Anything else is how its last run ended.
 */
export const PLAN_STATUSES = [
  'ready',
  'running',
  'interrupted',
  'stopped',
  'canary_failed',
  'canary_late',
  'too_many_failures',
  'superseded',
  'done',
] as const
export type PlanStatus = (typeof PLAN_STATUSES)[number]

export type PlanEvent = {
  readonly number: number
  readonly kind: 'run' | 'canary_passed' | 'stop' | 'end'
  readonly detail: string | null
  readonly actor: string
  readonly at: number
}

export type PlanItem = {
  readonly number: number
  readonly entry: string
  readonly included: boolean
  readonly because: string | null
  readonly why: string | null
  readonly result: 'done' | 'skipped' | null
  readonly resultWhy: string | null
  readonly resultAt: number | null
  /** How its entry stands now. */
  readonly stateNow: string
}

export type PlanOnRecord = {
  readonly id: string
  readonly action: PlanAction['kind']
  readonly detail: Readonly<Record<string, unknown>>
  readonly filter: PlanFilter
  readonly reason: string
  readonly madeBy: string
  readonly madeAt: number
  readonly cut: boolean
  readonly status: PlanStatus
  readonly included: readonly PlanGroup[]
  readonly excluded: readonly PlanExclusion[]
  readonly progress: PlanProgress
  readonly events: readonly PlanEvent[]
}
