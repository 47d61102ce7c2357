import { describe, expect, it } from 'vitest'
import { judgeDelivery } from './judge-delivery.js'
import { judgeVerdict } from './judge-verdict.js'
import { DIGEST, NOW, sampleAttempt, sampleDelivery, sampleEntry, sampleLateOutcome } from './sample-timeline.js'
import type { ActOnRecord, AttemptOnRecord, EntryTimeline, LateOutcomeOnRecord } from './timeline.js'
import { VERDICT_KINDS, type Verdict, type VerdictKind } from './verdict.js'
import { weighAttempts } from './weigh-attempts.js'

// Every combination of where an entry stands, what its attempts left behind, what came late and what a person said.
// Some of them no program of ours would write; a verdict must be true of those as well.

const LATE = ['accepted', 'rejected', 'not_sent', 'uncertain'] as const
const at = (closedAt: number): Pick<EntryTimeline, 'position' | 'closedAt'> => ({
  position: { kind: 'final' },
  closedAt,
})

const HISTORIES: readonly (readonly [string, readonly AttemptOnRecord[]])[] = [
  ['never tried', []],
  ['turned away', [sampleAttempt(1, 'deferred', { status: 503 })]],
  ['not sent', [sampleAttempt(1, 'not_sent', { cause: 'lease_returned' })]],
  ['refused', [sampleAttempt(1, 'rejected', { status: 422, cause: 'refused' })]],
  ['in doubt with a key', [sampleAttempt(1, 'uncertain', { cause: 'waiting_for_answer' })]],
  ['in doubt without a key', [sampleAttempt(1, 'uncertain', { cause: 'waiting_for_answer', keySent: null })]],
  ['worker lost', [sampleAttempt(1, 'uncertain', { cause: 'worker_lost', keySent: null, digestSent: null })]],
  [
    'refused after a doubt',
    [
      sampleAttempt(1, 'uncertain', { cause: 'sending' }),
      sampleAttempt(2, 'rejected', { status: 403, cause: 'refused' }),
    ],
  ],
  ['accepted', [sampleAttempt(1, 'accepted', { status: 202 })]],
  [
    'accepted after a doubt',
    [sampleAttempt(1, 'uncertain', { cause: 'sending' }), sampleAttempt(2, 'accepted', { status: 202 })],
  ],
  [
    'a repeat after a doubt',
    [sampleAttempt(1, 'uncertain', { cause: 'sending' }), sampleAttempt(2, 'accepted', { status: 200, repeat: true })],
  ],
  [
    'accepted without a key after a doubt',
    [
      sampleAttempt(1, 'uncertain', { cause: 'sending', keySent: null, digestSent: DIGEST }),
      sampleAttempt(2, 'accepted', { status: 202, keySent: null, digestSent: DIGEST }),
    ],
  ],
]

const act = (action: ActOnRecord['action'], actedAt: number): ActOnRecord => ({
  id: '01930000-0000-7000-8000-0000000000ac',
  actor: 'ana',
  action,
  reason: 'asked the vendor',
  entry: null,
  detail: { evidence: 'message m-17' },
  actedAt,
})

/** Where it stands; a doubt that is open travels with a pending entry, and stays with an uncertain one. */
const STANDS: readonly (readonly [string, Partial<EntryTimeline>])[] = [
  ['due', { position: { kind: 'due', dueAt: NOW, uncertainSince: null } }],
  ['due in doubt', { position: { kind: 'due', dueAt: NOW, uncertainSince: NOW - 9_000 } }],
  ...[NOW + 9_000, NOW - 1].flatMap((expiresAt) =>
    [null, NOW - 9_000].map((uncertainSince): readonly [string, Partial<EntryTimeline>] => [
      `leased${expiresAt < NOW ? ', and its worker is silent' : ''}${uncertainSince === null ? '' : ', in doubt'}`,
      { position: { kind: 'leased', attempt: 9, worker: 'w', openedAt: NOW - 9_000, expiresAt, uncertainSince } },
    ]),
  ),
  ['in no queue', { position: { kind: 'nowhere' } }],
  ['delivered', { state: 'delivered', ...at(NOW) }],
  ['uncertain', { state: 'uncertain', reason: 'no_key', uncertainSince: NOW - 9_000, ...at(NOW) }],
  ['dead', { state: 'dead_lettered', reason: 'rejected', ...at(NOW) }],
  ['dead and erased', { state: 'dead_lettered', reason: 'too_old', contentErased: true, ...at(NOW) }],
  ['settled as delivered', { state: 'settled', reason: 'delivered', ...at(NOW), acts: [act('settle', NOW)] }],
  ['settled as not delivered', { state: 'settled', reason: 'not_delivered', ...at(NOW), acts: [act('settle', NOW)] }],
  ['settled long ago', { state: 'settled', reason: 'not_delivered', ...at(NOW), acts: [act('settle', NOW - 300_000)] }],
  ['cancelled', { state: 'cancelled', reason: 'by_person', ...at(NOW), acts: [act('cancel', NOW)] }],
]

type Case = { readonly title: string; readonly entry: EntryTimeline; readonly verdict: Verdict }

function lateWords(attempts: readonly AttemptOnRecord[]): readonly (readonly LateOutcomeOnRecord[])[] {
  const first = attempts[0]
  if (first === undefined) return [[]]
  return [[], ...LATE.map((outcome) => [sampleLateOutcome(first.number, outcome, { cause: 'waiting_for_answer' })])]
}

const CASES: readonly Case[] = STANDS.flatMap(([stand, change]) =>
  HISTORIES.flatMap(([history, attempts]) =>
    lateWords(attempts).map((lateOutcomes): Case => {
      const entry = sampleEntry({ ...change, attempts, lateOutcomes })
      const said = lateOutcomes.map(({ outcome }) => `, late ${outcome}`).join('')
      return {
        title: `${stand}, ${history}${said}`,
        entry,
        verdict: judgeVerdict({ kind: 'entry', entry, readAt: NOW }),
      }
    }),
  ),
)

const DELIVERED: readonly VerdictKind[] = [
  'delivered_once',
  'delivered_repeat_ignored',
  'possibly_delivered_more_than_once',
]

describe('every combination of state, history, late outcome and settlement', () => {
  it('is many', () => {
    expect(CASES.length).toBeGreaterThan(600)
  })

  it('never calls "not delivered" what may have taken effect (I6)', () => {
    for (const { title, entry, verdict } of CASES) {
      const { accepted, doubtful } = weighAttempts(entry)
      const isOpen = entry.state === 'uncertain' || doubtful.length > 0
      if (!isOpen || accepted.length > 0 || entry.state === 'delivered' || verdict.kind === 'delivered_once') continue
      expect(verdict.kind, title).toBe('unknown')
      expect(`${verdict.label} ${verdict.sentence} ${verdict.advice.text}`.toLowerCase(), title).not.toMatch(
        /not delivered|did not take it|nothing was accepted/,
      )
    }
  })

  it('calls delivered only what was accepted, what stands as delivered, and what a person settled so', () => {
    for (const { title, entry, verdict } of CASES) {
      const isKnown = weighAttempts(entry).accepted.length > 0 || entry.state === 'delivered'
      const isSettled = entry.state === 'settled' && entry.reason === 'delivered'
      expect(DELIVERED.includes(verdict.kind), title).toBe(isKnown || isSettled)
    }
  })

  it('calls a redrive safe only where nothing is in doubt, accepted, pending or erased (I6)', () => {
    for (const { title, entry, verdict } of CASES) {
      if (!verdict.advice.redrive.safe) continue
      const { accepted, doubtful } = weighAttempts(entry)
      expect(['dead_lettered', 'settled'], title).toContain(entry.state)
      expect([accepted.length, doubtful.length, entry.contentErased], title).toEqual([0, 0, false])
    }
  })

  it('advises a redrive only where it is safe, and a settlement only where something is in doubt', () => {
    for (const { title, entry, verdict } of CASES) {
      if (verdict.advice.name === 'redrive') expect(verdict.advice.redrive.safe, title).toBe(true)
      if (verdict.advice.name === 'settle') expect(verdict.kind, title).toBe('unknown')
      if (entry.state === 'pending') expect(verdict.advice.name, title).not.toBe('settle')
    }
  })

  it('is worded in whole sentences, with nothing missing', () => {
    for (const { title, verdict } of CASES) {
      expect(verdict.sentence, title).toMatch(/[.]$|Evidence: /)
      expect(verdict.sentence, title).not.toMatch(/undefined|null|NaN|Invalid/)
    }
  })

  it('heads a delivery with two of them by the less certain one', () => {
    const rank = (kind: VerdictKind) => VERDICT_KINDS.indexOf(kind)
    const byKind = new Map(CASES.map((one) => [one.verdict.kind, one]))
    for (const one of byKind.values()) {
      for (const other of CASES) {
        const entries = [{ ...one.entry, id: 'a' }, other.entry]
        const { headline } = judgeDelivery(sampleDelivery({ entries }))
        const least = Math.min(rank(one.verdict.kind), rank(other.verdict.kind))
        expect(rank(headline.kind), `${one.title} + ${other.title}`).toBe(least)
      }
    }
  })

  it('reaches every verdict on an action; the others are about deliveries without one', () => {
    const reached = new Set(CASES.map(({ verdict }) => verdict.kind))
    const onActions: readonly VerdictKind[] = ['unknown', 'not_delivered_yet', 'not_delivered', ...DELIVERED]
    expect([...reached].sort()).toEqual([...onActions].sort())
    const base = sampleDelivery()
    const without = (change: Partial<typeof base>) => judgeDelivery(sampleDelivery(change)).headline.kind
    const ended = { number: 1, transition: 't', subject: 's', decidedBy: 'push' as const, decidedAt: NOW }
    const others = [
      without({}),
      without({ delivery: { ...base.delivery, disposition: 'ignored' } }),
      without({ delivery: { ...base.delivery, disposition: 'quarantined' } }),
      without({ deferredUntil: NOW + 1 }),
      without({ transitions: [{ ...ended, outcome: 'not_found' }] }),
      judgeVerdict({ kind: 'nothing', query: 'x', earliestKeptAt: null }).kind,
      judgeVerdict({
        kind: 'never_claimed',
        arrivals: {
          readAt: NOW,
          source: 's',
          deliveryId: 'd',
          refusals: [],
          unclaimed: [{ id: 'u', cause: 'deadline', seenAt: NOW }],
          counts: { refused: 0, unclaimed: 1 },
        },
      }).kind,
    ]
    expect([...reached, ...others].sort()).toEqual([...VERDICT_KINDS].sort())
  })
})
