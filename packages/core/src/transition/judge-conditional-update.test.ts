import { describe, expect, it } from 'vitest'
import { handleJudgement, judgeConditionalUpdate, judgeInOrder, type RowFacts } from './judge-conditional-update.js'

const held: RowFacts = { subject: 's', state: 'held', dueMs: 1000, isDue: true, remainingMs: 0, row: {} }

describe('judgeConditionalUpdate', () => {
  it.each<[string, RowFacts | null, number | null, string]>([
    ['a due row', held, null, 'applied'],
    ['a due row under its own deadline', held, 1000, 'applied'],
    ['a row whose deadline came forward', held, 2000, 'applied'],
    ['no row', null, null, 'not_found'],
    ['a paid row, due or not (I8)', { ...held, state: 'paid' }, 1000, 'no_longer_held'],
    ['a paid row that was extended', { ...held, state: 'paid', dueMs: 9000 }, 1000, 'no_longer_held'],
    ['a row without a state', { ...held, state: null }, null, 'no_longer_held'],
    ['an extended row', { ...held, dueMs: 1001 }, 1000, 'superseded'],
    ['an extended row that is early as well', { ...held, dueMs: 1001, isDue: false }, 1000, 'superseded'],
    ['a row without a deadline', { ...held, dueMs: null, isDue: false }, null, 'superseded'],
    ['an early row', { ...held, isDue: false, remainingMs: 5 }, null, 'not_due'],
  ])('judges %s', (_, facts, guardMs, outcome) => {
    expect(judgeConditionalUpdate(facts, 'held', guardMs).outcome).toBe(outcome)
  })

  it('never says zero of what is left to wait', () => {
    const early = judgeConditionalUpdate({ ...held, isDue: false, remainingMs: 0 }, 'held', null)
    expect(early).toMatchObject({ outcome: 'not_due', remainingMs: 1 })
  })
})

describe('judgeInOrder', () => {
  it('lets only the first of several apply, in arrival order (case B034: late event over a newer state)', () => {
    const rows = new Map([['s', held]])
    const asks = [
      { key: 's', guardMs: 500 },
      { key: 's', guardMs: null },
      { key: 'other', guardMs: null },
      { key: 's', guardMs: null },
    ]
    const outcomes = judgeInOrder(asks, rows, { from: 'held', to: 'expired' }).map(({ outcome }) => outcome)
    expect(outcomes).toEqual(['superseded', 'applied', 'not_found', 'no_longer_held'])
  })

  it('tells keys apart that are names of object members', () => {
    const rows = new Map([['__proto__', { ...held, subject: '__proto__' }]])
    const [one, two] = judgeInOrder(
      [
        { key: '__proto__', guardMs: null },
        { key: 'constructor', guardMs: null },
      ],
      rows,
      { from: 'held', to: 'expired' },
    )
    expect([one?.outcome, two?.outcome]).toEqual(['applied', 'not_found'])
  })
})

describe('handleJudgement', () => {
  it('claims whatever is decided for good, under every policy', () => {
    for (const policy of ['discard', 'defer', 'refuse'] as const) {
      expect(handleJudgement({ outcome: 'applied' }, policy)).toEqual({ kind: 'claim', outcome: 'applied' })
    }
  })

  it('does with an early one what its owner said', () => {
    const early = { outcome: 'not_due', remainingMs: 7 } as const
    expect(handleJudgement(early, 'discard')).toEqual({ kind: 'claim', outcome: 'not_due' })
    expect(handleJudgement(early, 'defer')).toEqual({ kind: 'defer', remainingMs: 7 })
    expect(handleJudgement(early, 'refuse')).toEqual({ kind: 'refuse', remainingMs: 7 })
  })
})
