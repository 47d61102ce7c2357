import { describe, expect, it } from 'vitest'
import { judgePlanRun, type PlanProgress } from './judge-plan-run.js'

const PACE = { canary: 2, canaryWithinMs: 1_000, perSecond: 5, stopAfter: 3 }
const progress = (change: Partial<PlanProgress> = {}): PlanProgress => ({
  remaining: 10,
  done: 0,
  skipped: 0,
  succeeded: 0,
  failed: 0,
  underWay: 0,
  canary: { done: 0, succeeded: 0, failed: 0 },
  ...change,
})

describe('judgePlanRun', () => {
  it.each([
    ['sends the canary first', progress({ canary: { done: 1, succeeded: 0, failed: 0 } }), 0, { kind: 'go_on' }],
    [
      'waits for the whole canary',
      progress({ canary: { done: 2, succeeded: 1, failed: 0 } }),
      999,
      { kind: 'wait_for_canary' },
    ],
    [
      'ends when the canary is late',
      progress({ canary: { done: 2, succeeded: 1, failed: 0 } }),
      1_000,
      { kind: 'end', as: 'canary_late' },
    ],
    [
      'ends at the first failure of the canary, before it is complete',
      progress({ failed: 1, canary: { done: 1, succeeded: 0, failed: 1 } }),
      0,
      { kind: 'end', as: 'canary_failed' },
    ],
    [
      'goes on once the whole canary has succeeded',
      progress({ canary: { done: 2, succeeded: 2, failed: 0 } }),
      5_000,
      { kind: 'canary_passed' },
    ],
    ['goes on without a canary', progress({ failed: 2, canary: null }), 0, { kind: 'go_on' }],
    [
      'ends at the stop rule, also when it has passed the canary',
      progress({ failed: 3, canary: null }),
      0,
      { kind: 'end', as: 'too_many_failures' },
    ],
    [
      'is done when nothing remains, without waiting for a canary that guards nothing',
      progress({ remaining: 0, canary: { done: 2, succeeded: 0, failed: 0 } }),
      0,
      { kind: 'end', as: 'done' },
    ],
  ] as const)('%s', (_, facts, waitedMs, step) => {
    expect(judgePlanRun(facts, PACE, waitedMs)).toEqual(step)
  })
})
