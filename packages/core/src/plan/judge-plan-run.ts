/** How far a plan has come, as its rows say. */
export type PlanProgress = {
  /** Included, and without a result yet. */
  readonly remaining: number
  readonly done: number
  readonly skipped: number
  /** What became of those that are done: accepted downstream, or done by the act itself. */
  readonly succeeded: number
  /** Done, and ended as a dead letter or uncertain again. */
  readonly failed: number
  readonly underWay: number
  /** The first items of this run; `null` once a canary has passed, or where none is wanted. */
  readonly canary: { readonly done: number; readonly succeeded: number; readonly failed: number } | null
}

export type PlanPace = {
  /** So many items go first, and everything else waits until all of them have succeeded; 0: none. */
  readonly canary: number
  readonly canaryWithinMs: number
  readonly perSecond: number
  /** Stops when so many items have failed. */
  readonly stopAfter: number
}

export type PlanStep =
  | { readonly kind: 'go_on' }
  /** The canary is out, and not all of it has come back yet. */
  | { readonly kind: 'wait_for_canary' }
  | { readonly kind: 'canary_passed' }
  | { readonly kind: 'end'; readonly as: 'done' | 'canary_failed' | 'canary_late' | 'too_many_failures' }

/**
 * What the runner of a plan does next. Pure.
 *
 * @param waitedMs how long the whole canary has been out; 0 while it isn't
 */
export function judgePlanRun(progress: PlanProgress, pace: PlanPace, waitedMs: number): PlanStep {
  const { remaining, failed, canary } = progress
  if (canary !== null && canary.failed > 0) return { kind: 'end', as: 'canary_failed' }
  if (failed >= pace.stopAfter) return { kind: 'end', as: 'too_many_failures' }
  if (remaining === 0) return { kind: 'end', as: 'done' }
  if (canary === null || canary.done < pace.canary) return { kind: 'go_on' }
  if (canary.succeeded >= canary.done) return { kind: 'canary_passed' }
  return waitedMs >= pace.canaryWithinMs ? { kind: 'end', as: 'canary_late' } : { kind: 'wait_for_canary' }
}
