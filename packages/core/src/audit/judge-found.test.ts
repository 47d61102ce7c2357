import { describe, expect, it } from 'vitest'
import { judgeVerdict } from './judge-verdict.js'
import { listEvents } from './list-events.js'
import { NOW, sampleAttempt, sampleDelivery, sampleEntry, sampleLookup } from './sample-timeline.js'
import type { EntryTimeline } from './timeline.js'

/** Sent without a key, so that nothing but asking or a person can end the doubt. */
const DOUBTFUL = sampleAttempt(1, 'uncertain', {
  cause: 'waiting_for_answer',
  keySent: null,
  decision: 'hold',
  decisionReason: 'no_key',
})
const FINAL = { position: { kind: 'final' as const }, closedAt: NOW - 200_000 }
const HELD = { ...FINAL, state: 'uncertain' as const, reason: 'no_key', uncertainSince: NOW - 540_000 }

const judge = (change: Partial<EntryTimeline>) =>
  judgeVerdict({ kind: 'entry', entry: sampleEntry({ attempts: [DOUBTFUL], ...change }), readAt: NOW })

describe('the verdict on an entry that was asked about', () => {
  it('I6: is "delivered once" where its own record shows that it acted, and says by what', () => {
    const lookups = [sampleLookup(1, { finding: 'took_effect', effect: 'delivered' })]
    const verdict = judge({ ...FINAL, state: 'delivered', reason: 'took_effect', lookups })
    expect(verdict).toMatchObject({ kind: 'delivered_once', label: 'Delivered once (found by asking)' })
    expect(verdict.sentence).toContain('its own record shows that it acted: question 1 at 2026-11-29 14:26:00Z (200)')
    expect(verdict.advice.redrive.safe).toBe(false)
  })

  it('lets a dead letter that provably did not act be redriven', () => {
    const lookups = [sampleLookup(1, { finding: 'did_not', effect: 'dead_lettered' })]
    const verdict = judge({ ...FINAL, state: 'dead_lettered', reason: 'did_not', lookups })
    expect(verdict).toMatchObject({ kind: 'not_delivered', advice: { name: 'redrive', redrive: { safe: true } } })
    expect(verdict.sentence).toContain('says that it did not act')
  })

  it('is not "possibly twice" where the first attempt provably did not act and the second was accepted', () => {
    const accepted = sampleAttempt(9, 'accepted', { status: 200, keySent: null })
    const attempts = [DOUBTFUL, accepted]
    const lookups = [sampleLookup(1, { finding: 'did_not', effect: 'returned' })]
    const verdict = judge({ ...FINAL, state: 'delivered', attempts, lookups })
    expect(verdict.kind).toBe('delivered_once')
    expect(verdict.sentence).toContain('Of attempt 1 it had said, asked, that it did not act.')
    expect(judge({ ...FINAL, state: 'delivered', attempts }).kind).toBe('possibly_delivered_more_than_once')
  })

  it('I6: doubts only the attempt that came after the finding', () => {
    const again = sampleAttempt(9, 'uncertain', { cause: 'waiting_for_answer', keySent: null })
    const lookups = [sampleLookup(1, { finding: 'did_not', effect: 'returned' })]
    const verdict = judge({ ...HELD, attempts: [DOUBTFUL, again], lookups })
    expect(verdict.kind).toBe('unknown')
    expect(verdict.sentence).toContain('acted on attempt 9:')
    expect(verdict.sentence).not.toContain('attempts 1 and 9')
  })

  it('I6: takes a finding that was not acted upon for no proof', () => {
    const early = sampleLookup(1, { finding: 'did_not', effect: 'asked_again' }, { cause: 'too_early' })
    expect(judge({ ...HELD, lookups: [early] }).kind).toBe('unknown')
  })

  it('says that it is asked by itself, and from when on a person has to look', () => {
    const doubt = { heldAt: NOW - 500_000, nextAskAt: NOW + 60_000, reviewBy: NOW + 3_600_000 }
    const lookups = [sampleLookup(1, { finding: 'still_unknown', effect: 'asked_again' }, { status: 404 })]
    expect(judge({ ...HELD, doubt, lookups }).sentence).toContain(
      'crm was asked, last at 2026-11-29 14:26:00Z, without a definite answer. It is asked at 2026-11-29 14:31:00Z.',
    )
    const overdue = { ...doubt, nextAskAt: null, reviewBy: NOW - 1_000 }
    expect(judge({ ...HELD, doubt: overdue }).sentence).toContain('It is overdue since 2026-11-29 14:29:59Z.')
  })

  it('I6: warns of a redrive where a finding that came second says that it acted', () => {
    const lookups = [sampleLookup(1, { finding: 'took_effect', effect: 'kept' }, { cause: 'moved_meanwhile' })]
    const verdict = judge({ ...FINAL, state: 'settled', reason: 'not_delivered', lookups })
    expect(verdict.sentence).toContain('which contradicts that')
    expect(verdict.advice).toMatchObject({ name: 'check', redrive: { safe: false } })
    expect(judge({ ...FINAL, state: 'settled', reason: 'not_delivered' }).advice.redrive.safe).toBe(true)
  })
})

describe('the timeline', () => {
  it('tells each question with what it brought, and what comes next', () => {
    const lookups = [
      sampleLookup(1, null),
      sampleLookup(2, { finding: 'still_unknown', effect: 'asked_again' }, { cause: 'no_rule_applies', status: 404 }),
      { ...sampleLookup(3, { finding: 'took_effect', effect: 'kept' }), askedBy: 'ana', byPerson: true },
    ]
    const doubt = { heldAt: NOW - 500_000, nextAskAt: NOW + 60_000, reviewBy: NOW - 1_000 }
    const entries = [sampleEntry({ ...HELD, attempts: [DOUBTFUL], lookups, doubt })]
    const told = listEvents(sampleDelivery({ entries })).filter(({ kind }) => kind === 'finding' || kind === 'next')
    expect(told.map(({ text, flagged }) => [text, flagged])).toEqual([
      ['Question 1 to crm: no answer is on record', true],
      ['Question 2 to crm: still unknown (no rule applies to the answer); to be asked again', true],
      ['Question 3 to crm: it acted; kept as evidence only: the entry had moved on meanwhile', true],
      ['Overdue: a person has to find out and settle it', true],
      ['crm is asked about it', false],
    ])
    expect(told[2]?.facts).toEqual(['answered 200', 'in the name of ana'])
  })
})
