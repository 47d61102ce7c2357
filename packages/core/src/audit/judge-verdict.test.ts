import { describe, expect, it } from 'vitest'
import { judgeVerdict } from './judge-verdict.js'
import { DIGEST, KEY, NOW, sampleAttempt, sampleEntry, sampleLateOutcome } from './sample-timeline.js'
import type { ActOnRecord, EntryTimeline } from './timeline.js'
import type { Advice, VerdictKind } from './verdict.js'

const timeout = (number: number, change = {}) =>
  sampleAttempt(number, 'uncertain', { cause: 'waiting_for_answer', decisionReason: 'uncertain_with_key', ...change })
const noKey = { keySent: null, digestSent: DIGEST, decisionReason: null }
const accepted = (number: number, change = {}) =>
  sampleAttempt(number, 'accepted', { status: 202, decision: 'finish', ...change })
const due = (uncertainSince: number | null) => ({ kind: 'due' as const, dueAt: NOW + 5_000, uncertainSince })
const final = { position: { kind: 'final' as const }, closedAt: NOW - 1_000 }
const settle = (as: 'delivered' | 'not_delivered', actedAt = NOW): ActOnRecord => ({
  id: '01930000-0000-7000-8000-0000000000ac',
  actor: 'ana',
  action: 'settle',
  reason: 'asked the vendor',
  entry: null,
  detail: { as, evidence: 'message m-17' },
  actedAt,
})

type Row = {
  readonly title: string
  readonly entry: Partial<EntryTimeline>
  readonly kind: VerdictKind
  readonly advice: Advice['name']
  readonly redrive: boolean
  readonly says: readonly string[]
}

const TABLE: readonly Row[] = [
  {
    title: 'never tried and due',
    entry: {},
    kind: 'not_delivered_yet',
    advice: 'wait',
    redrive: false,
    says: ['Attempt 1 to crm is due since 2026-11-29 14:30:00Z'],
  },
  {
    title: 'first attempt under way',
    entry: {
      position: {
        kind: 'leased',
        attempt: 1,
        worker: 'w',
        openedAt: NOW - 500,
        expiresAt: NOW + 30_000,
        uncertainSince: null,
      },
    },
    kind: 'not_delivered_yet',
    advice: 'wait',
    redrive: false,
    says: ['Attempt 1 to crm is under way'],
  },
  {
    title: 'first attempt under way, and its worker is silent past its lease',
    entry: {
      position: {
        kind: 'leased',
        attempt: 1,
        worker: 'w',
        openedAt: NOW - 60_000,
        expiresAt: NOW - 1,
        uncertainSince: null,
      },
    },
    kind: 'unknown',
    advice: 'wait',
    redrive: false,
    says: ['cannot tell yet whether crm acted on attempt 1', 'has not reported'],
  },
  {
    title: 'turned away for now and to be tried again',
    entry: { attempts: [sampleAttempt(1, 'deferred', { status: 503 })], position: due(null) },
    kind: 'not_delivered_yet',
    advice: 'wait',
    redrive: false,
    says: ['Attempt 2 to crm is due at 2026-11-29 14:30:05Z', 'turned away for now (503)'],
  },
  {
    title: 'never connected and to be tried again',
    entry: { attempts: [sampleAttempt(1, 'not_sent', { cause: 'connect' })], position: due(null) },
    kind: 'not_delivered_yet',
    advice: 'wait',
    redrive: false,
    says: ['no connection could be made'],
  },
  {
    title: 'waiting because the destination is paused until somebody resumes it',
    entry: {
      attempts: [sampleAttempt(1, 'unauthorised', { status: 401 })],
      pause: { reason: 'credentials', pausedAt: NOW - 9, pausedUntil: null, detail: null },
    },
    kind: 'not_delivered_yet',
    advice: 'resume',
    redrive: false,
    says: ['crm is paused until somebody resumes it (credentials)', 'credentials were refused (401)'],
  },
  {
    title: 'paused for a while, and the pause is over',
    entry: { pause: { reason: 'throttled', pausedAt: NOW - 9_000, pausedUntil: NOW - 1, detail: null } },
    kind: 'not_delivered_yet',
    advice: 'wait',
    redrive: false,
    says: ['is due since'],
  },
  {
    title: 'timed out, retry under the same key is due',
    entry: { attempts: [timeout(1)], position: due(NOW - 500_000) },
    kind: 'unknown',
    advice: 'wait',
    redrive: false,
    says: ['cannot tell yet whether crm acted on attempt 1: no answer came after 10.0 s', 'same key'],
  },
  {
    title: 'timed out, late proof that nothing left, retry due without doubt',
    entry: {
      attempts: [timeout(1, { cause: 'worker_lost', keySent: null, digestSent: null })],
      lateOutcomes: [sampleLateOutcome(1, 'not_sent', { cause: 'connect' })],
      position: due(null),
    },
    kind: 'not_delivered_yet',
    advice: 'wait',
    redrive: false,
    says: ['no connection could be made'],
  },
  {
    title: 'pending in no queue',
    entry: { position: { kind: 'nowhere' } },
    kind: 'not_delivered_yet',
    advice: 'doctor',
    redrive: false,
    says: ['in no queue'],
  },
  {
    title: 'accepted at once',
    entry: { state: 'delivered', ...final, attempts: [accepted(1)] },
    kind: 'delivered_once',
    advice: 'nothing',
    redrive: false,
    says: ['crm accepted attempt 1 at 2026-11-29 14:21:10Z (202).'],
  },
  {
    title: 'accepted after a 503',
    entry: { state: 'delivered', ...final, attempts: [sampleAttempt(1, 'deferred', { status: 503 }), accepted(2)] },
    kind: 'delivered_once',
    advice: 'nothing',
    redrive: false,
    says: ['crm accepted attempt 2'],
  },
  {
    title: 'timed out twice, then recognised as a repeat under the same key',
    entry: {
      state: 'delivered',
      repeat: true,
      ...final,
      attempts: [timeout(1), timeout(2), accepted(3, { status: 200, repeat: true })],
    },
    kind: 'delivered_repeat_ignored',
    advice: 'nothing',
    redrive: false,
    says: ['recognised attempt 3 as a repeat', 'already acted on attempts 1 and 2, whose answer did not reach us'],
  },
  {
    title: 'timed out, then accepted as new under the same key',
    entry: { state: 'delivered', ...final, attempts: [timeout(1), accepted(2)] },
    kind: 'delivered_once',
    advice: 'nothing',
    redrive: false,
    says: ['carried the same key, so crm acted once'],
  },
  {
    title: 'worker lost, then accepted under the key',
    entry: {
      state: 'delivered',
      ...final,
      attempts: [timeout(1, { cause: 'worker_lost', keySent: null, digestSent: null }), accepted(2)],
    },
    kind: 'delivered_once',
    advice: 'nothing',
    redrive: false,
    says: ['attempt 1 never became known'],
  },
  {
    title: 'timed out, then accepted where no key is honoured',
    entry: { state: 'delivered', ...final, attempts: [timeout(1, noKey), accepted(2, noKey)] },
    kind: 'possibly_delivered_more_than_once',
    advice: 'check',
    redrive: false,
    says: ['accepted attempt 2', 'attempt 1 may have taken effect as well', 'carried out twice'],
  },
  {
    title: 'accepted late where no key is honoured, after a second attempt was accepted too',
    entry: {
      state: 'delivered',
      ...final,
      attempts: [timeout(1, noKey), accepted(2, noKey)],
      lateOutcomes: [sampleLateOutcome(1, 'accepted', { status: 202 })],
    },
    kind: 'possibly_delivered_more_than_once',
    advice: 'check',
    redrive: false,
    says: ['attempt 1 was accepted too'],
  },
  {
    title: 'accepted twice under the same key',
    entry: {
      state: 'delivered',
      ...final,
      attempts: [timeout(1), accepted(2)],
      lateOutcomes: [sampleLateOutcome(1, 'accepted', { status: 202 })],
    },
    kind: 'delivered_once',
    advice: 'nothing',
    redrive: false,
    says: ['accepted attempt 2'],
  },
  {
    title: 'worker lost, then its late answer said yes',
    entry: {
      state: 'delivered',
      ...final,
      attempts: [
        timeout(1, {
          cause: 'worker_lost',
          keySent: null,
          digestSent: null,
          decisionReason: 'no_key',
          decision: 'hold',
        }),
      ],
      lateOutcomes: [sampleLateOutcome(1, 'accepted', { status: 201 })],
    },
    kind: 'delivered_once',
    advice: 'nothing',
    redrive: false,
    says: ['accepted attempt 1', '(201)', 'came after the lease was lost'],
  },
  {
    title: 'held as uncertain without a key',
    entry: {
      state: 'uncertain',
      reason: 'no_key',
      uncertainSince: NOW - 1,
      ...final,
      attempts: [timeout(1, { ...noKey, decision: 'hold' })],
    },
    kind: 'unknown',
    advice: 'settle',
    redrive: false,
    says: [
      'cannot tell whether crm acted on attempt 1: no answer came after 10.0 s',
      'no key to recognise a repeat by',
    ],
  },
  {
    title: 'rejected after a doubt',
    entry: {
      state: 'uncertain',
      reason: 'rejected_after_doubt',
      uncertainSince: NOW - 1,
      ...final,
      attempts: [timeout(1), sampleAttempt(2, 'rejected', { status: 403, cause: 'refused' })],
    },
    kind: 'unknown',
    advice: 'settle',
    redrive: false,
    says: ['acted on attempt 1', 'says nothing about the one in doubt'],
  },
  {
    title: 'refused at once',
    entry: {
      state: 'dead_lettered',
      reason: 'rejected',
      ...final,
      attempts: [sampleAttempt(1, 'rejected', { status: 422, cause: 'refused' })],
    },
    kind: 'not_delivered',
    advice: 'redrive',
    redrive: true,
    says: ['crm did not take it', 'refused (422)', 'Nothing was accepted'],
  },
  {
    title: 'refused, and its content was erased meanwhile',
    entry: {
      state: 'dead_lettered',
      reason: 'rejected',
      contentErased: true,
      ...final,
      attempts: [sampleAttempt(1, 'rejected', { status: 422, cause: 'refused' })],
    },
    kind: 'not_delivered',
    advice: 'ask_source',
    redrive: false,
    says: ['refused (422)'],
  },
  {
    title: 'given up after definite failures',
    entry: {
      state: 'dead_lettered',
      reason: 'attempts_used_up',
      ...final,
      attempts: [sampleAttempt(1, 'not_sent', { cause: 'dns' }), sampleAttempt(2, 'not_sent', { cause: 'dns' })],
    },
    kind: 'not_delivered',
    advice: 'redrive',
    redrive: true,
    says: ['attempts are used up', 'could not be resolved'],
  },
  {
    title: 'a dead letter for which a late yes is on record',
    entry: {
      state: 'dead_lettered',
      reason: 'attempts_used_up',
      ...final,
      attempts: [sampleAttempt(1, 'not_sent', { cause: 'lease_returned' })],
      lateOutcomes: [sampleLateOutcome(1, 'accepted', { status: 202 })],
    },
    kind: 'delivered_once',
    advice: 'nothing',
    redrive: false,
    says: ['stands as dead lettered, which that answer contradicts'],
  },
  {
    title: 'a dead letter whose returned lease turns out to have been used',
    entry: {
      state: 'dead_lettered',
      reason: 'attempts_used_up',
      uncertainSince: NOW,
      ...final,
      attempts: [sampleAttempt(1, 'not_sent', { cause: 'lease_returned' })],
      lateOutcomes: [sampleLateOutcome(1, 'uncertain', { cause: 'waiting_for_answer' })],
    },
    kind: 'unknown',
    advice: 'settle',
    redrive: false,
    says: ['cannot tell whether crm acted on attempt 1'],
  },
  {
    title: 'settled as delivered',
    entry: {
      state: 'settled',
      reason: 'delivered',
      ...final,
      attempts: [timeout(1, noKey)],
      acts: [settle('delivered')],
    },
    kind: 'delivered_once',
    advice: 'nothing',
    redrive: false,
    says: ['Settled as delivered by ana', 'message m-17', 'crm itself never answered'],
  },
  {
    title: 'settled as not delivered',
    entry: {
      state: 'settled',
      reason: 'not_delivered',
      ...final,
      attempts: [timeout(1, noKey)],
      acts: [settle('not_delivered')],
    },
    kind: 'not_delivered',
    advice: 'redrive',
    redrive: true,
    says: ['Settled as not delivered by ana'],
  },
  {
    title: 'settled as not delivered, and then a late yes came',
    entry: {
      state: 'settled',
      reason: 'not_delivered',
      ...final,
      attempts: [timeout(1, noKey)],
      lateOutcomes: [sampleLateOutcome(1, 'accepted', { status: 200 })],
      acts: [settle('not_delivered', NOW - 30_000)],
    },
    kind: 'delivered_once',
    advice: 'nothing',
    redrive: false,
    says: ['contradicts'],
  },
  {
    title: 'settled as not delivered, redriven, and accepted without a key',
    entry: {
      state: 'delivered',
      ...final,
      attempts: [timeout(1, noKey), accepted(2, noKey)],
      acts: [settle('not_delivered', NOW - 600_000 + 100_000)],
    },
    kind: 'delivered_once',
    advice: 'nothing',
    redrive: false,
    says: ['accepted attempt 2'],
  },
  {
    title: 'stopped',
    entry: { state: 'cancelled', reason: 'subject erased', ...final },
    kind: 'not_delivered',
    advice: 'nothing',
    redrive: false,
    says: ['stopped before crm accepted anything'],
  },
]

describe('judgeVerdict on an entry', () => {
  it.each(TABLE.map((row) => [row.title, row] as const))('%s', (_, row) => {
    const verdict = judgeVerdict({ kind: 'entry', entry: sampleEntry(row.entry), readAt: NOW })
    expect(verdict.kind).toBe(row.kind)
    expect(verdict.advice.name).toBe(row.advice)
    expect(verdict.advice.redrive.safe).toBe(row.redrive)
    for (const text of row.says) expect(verdict.sentence).toContain(text)
  })

  it('names the key to look for, and the command, where a person has to find out', () => {
    const held = { state: 'uncertain' as const, reason: 'no_key', ...final, attempts: [timeout(1, noKey)] }
    const { advice } = judgeVerdict({ kind: 'entry', entry: sampleEntry(held), readAt: NOW })
    expect(advice.text).toContain(KEY)
    expect(advice.command).toContain('counterfoil settle 01930000-0000-7000-8000-00000000000e --as')
  })
})
