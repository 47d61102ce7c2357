import { describe, expect, it } from 'vitest'
import { judgeLateOutcomes, type RecordedOutcome } from './judge-late-outcomes.js'

function row(number: number, outcome: RecordedOutcome['outcome'], late = false): RecordedOutcome {
  return { number, outcome, repeat: false, late }
}

describe('judgeLateOutcomes', () => {
  it('has nothing to say without a definite late outcome', () => {
    expect(judgeLateOutcomes([])).toBeNull()
    expect(judgeLateOutcomes([row(1, 'uncertain'), row(1, 'uncertain', true), row(2, 'accepted')])).toBeNull()
  })

  it('takes the strongest: a yes before a no before "nothing was done"', () => {
    const judged = judgeLateOutcomes([
      row(1, 'uncertain'),
      row(1, 'not_sent', true),
      row(2, 'uncertain'),
      row(2, 'accepted', true),
      row(3, 'uncertain'),
      row(3, 'rejected', true),
    ])
    expect(judged?.outcome.kind).toBe('accepted')
    expect(judged?.situation).toEqual({ othersInDoubt: false, rejected: true })
  })

  it('counts as in doubt every uncertain attempt that nothing late answers (I6)', () => {
    const judged = judgeLateOutcomes([row(1, 'uncertain'), row(1, 'rejected', true), row(2, 'uncertain')])
    expect(judged).toEqual({
      outcome: { kind: 'rejected', repeat: false },
      situation: { othersInDoubt: true, rejected: true },
    })
  })
})
