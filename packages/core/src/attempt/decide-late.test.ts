import { describe, expect, it } from 'vitest'
import { decideLate } from './decide-late.js'

const held = { state: 'uncertain', othersInDoubt: false, rejected: false } as const
const accepted = { kind: 'accepted', repeat: false } as const

describe('decideLate', () => {
  it('takes a late yes as the definite answer of an uncertain or a pending entry', () => {
    for (const state of ['uncertain', 'pending'] as const) {
      const decision = decideLate(accepted, { state, othersInDoubt: true, rejected: true })
      expect(decision).toEqual({ kind: 'finish', as: 'delivered', repeat: false })
    }
  })

  it('never moves a final entry (I5, I6)', () => {
    for (const state of ['delivered', 'dead_lettered', 'settled', 'cancelled'] as const) {
      expect(decideLate(accepted, { ...held, state })).toEqual({ kind: 'keep' })
    }
  })

  it('takes a late no only when no other attempt is in doubt (I6)', () => {
    expect(decideLate({ kind: 'rejected' }, held)).toEqual({ kind: 'dead_letter', because: 'rejected' })
    expect(decideLate({ kind: 'rejected' }, { ...held, othersInDoubt: true })).toEqual({ kind: 'keep' })
  })

  it('clears the doubt when the attempt proves to have done nothing', () => {
    for (const kind of ['not_sent', 'deferred', 'unauthorised'] as const) {
      expect(decideLate({ kind }, held)).toEqual({ kind: 'clear_doubt' })
      expect(decideLate({ kind }, { ...held, othersInDoubt: true })).toEqual({ kind: 'keep' })
      expect(decideLate({ kind }, { ...held, rejected: true })).toEqual({ kind: 'dead_letter', because: 'rejected' })
    }
  })

  it('learns nothing from a late "uncertain"', () => {
    expect(decideLate({ kind: 'uncertain' }, held)).toEqual({ kind: 'keep' })
  })
})
