import { describe, expect, it } from 'vitest'
import { decideFinding, type FindingSituation, nextGapMs, type ReconcileContract } from './decide-finding.js'
import { FINDINGS, type Finding } from './finding.js'

const HELD_AT = Date.UTC(2026, 10, 29, 14, 0, 0)
const MINUTE_MS = 60_000

const CONTRACT: ReconcileContract = {
  timeouts: { connectMs: 5_000, headersMs: 10_000, bodyMs: 10_000, totalMs: 25_000 },
  retry: { firstMs: 5_000, capMs: 60_000, maxAttempts: 5, maxAgeMs: 86_400_000, maxRetryAfterMs: 3_600_000 },
  reviewWindowMs: 4 * 60 * MINUTE_MS,
  lookup: {
    method: 'GET',
    target: '/',
    body: null,
    rules: [],
    graceMs: 35_000,
    firstMs: MINUTE_MS,
    capMs: 60 * MINUTE_MS,
    maxProbes: 10,
    concurrency: 2,
    didNot: 'resend',
  },
}

function situation(change: Partial<FindingSituation> = {}): FindingSituation {
  return {
    isSameHold: true,
    heldAt: HELD_AT,
    askedAt: HELD_AT + 2 * MINUTE_MS,
    now: HELD_AT + 2 * MINUTE_MS + 100,
    createdAt: HELD_AT - 1_000,
    tries: 1,
    probes: 1,
    contentErased: false,
    ...change,
  }
}

const decide = (finding: Finding, change: Partial<FindingSituation> = {}, contract: Partial<ReconcileContract> = {}) =>
  decideFinding({ finding, retryAfterMs: null }, situation(change), { ...CONTRACT, ...contract }, () => 0.5)

describe('decideFinding', () => {
  it('takes for delivered what took effect, whenever it was asked', () => {
    expect(decide('took_effect')).toEqual({ kind: 'deliver' })
    expect(decide('took_effect', { askedAt: HELD_AT })).toEqual({ kind: 'deliver' })
  })

  it('returns to pending what had no effect', () => {
    expect(decide('did_not')).toEqual({ kind: 'return' })
  })

  it('I6: believes no "it did not" that was asked for while something could still be on its way', () => {
    const quiet = HELD_AT + MINUTE_MS
    expect(decide('did_not', { askedAt: quiet - 1, now: quiet + 400 })).toEqual({
      kind: 'ask_again',
      dueInMs: 0,
      because: 'too_early',
    })
    expect(decide('did_not', { askedAt: HELD_AT + 5_000, now: HELD_AT + 6_000 })).toMatchObject({ dueInMs: 54_000 })
    expect(decide('did_not', { askedAt: quiet })).toEqual({ kind: 'return' })
  })

  it.each([
    ['its tries are used up', { tries: 5 }, {}],
    ['it is too old', { createdAt: HELD_AT - 2 * 86_400_000 }, {}],
    ['its content was erased', { contentErased: true }, {}],
    ['its owner wants to look', {}, { lookup: { ...CONTRACT.lookup, didNot: 'review' as const } }],
  ])('leaves it to a person where %s', (_what, change, contract) => {
    expect(decide('did_not', change, contract)).toEqual({ kind: 'dead_letter', because: 'did_not' })
  })

  it.each(FINDINGS)('I5: keeps %s as evidence only when the entry has moved meanwhile', (finding) => {
    expect(decide(finding, { isSameHold: false })).toEqual({ kind: 'keep' })
  })

  it('asks again after ever longer gaps while it is unknown', () => {
    expect(decide('still_unknown')).toEqual({ kind: 'ask_again', dueInMs: MINUTE_MS, because: 'still_unknown' })
    expect(decide('still_unknown', { probes: 4 })).toMatchObject({ dueInMs: 8 * MINUTE_MS })
  })

  it('waits as long as the destination asked for', () => {
    const found = { finding: 'still_unknown', retryAfterMs: 5 * MINUTE_MS } as const
    expect(decideFinding(found, situation(), CONTRACT, () => 0.5)).toMatchObject({ dueInMs: 5 * MINUTE_MS })
  })

  it('waits for a person when the questions are used up, or the review window is over', () => {
    expect(decide('still_unknown', { probes: 10 })).toEqual({ kind: 'wait_for_person', because: 'probes_used_up' })
    const late = { now: HELD_AT + 4 * 60 * MINUTE_MS }
    expect(decide('still_unknown', late)).toEqual({ kind: 'wait_for_person', because: 'review_window_over' })
  })

  it('asks once more when the window ends, not after it; without one only the questions are counted', () => {
    const change = { now: HELD_AT + 4 * 60 * MINUTE_MS - 5_000, probes: 8 }
    expect(decide('still_unknown', change)).toMatchObject({ kind: 'ask_again', dueInMs: 5_000 })
    const never = { reviewWindowMs: null }
    expect(decide('still_unknown', change, never)).toMatchObject({ kind: 'ask_again', dueInMs: 60 * MINUTE_MS })
  })
})

describe('nextGapMs', () => {
  it('stays within a fifth of a doubling gap, and within a fifth of the cap', () => {
    const law = { firstMs: 1_000, capMs: 10_000 }
    for (let probes = 1; probes <= 40; probes += 1) {
      const gap = Math.min(10_000, 1_000 * 2 ** (probes - 1))
      expect(nextGapMs(probes, law, () => 0)).toBe(Math.round(gap * 0.8))
      expect(nextGapMs(probes, law, () => 0.999)).toBeLessThanOrEqual(gap * 1.2)
    }
  })
})
