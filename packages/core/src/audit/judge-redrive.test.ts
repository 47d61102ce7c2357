import { describe, expect, it } from 'vitest'
import { judgeRedrive, type KnownContract, REDRIVE_REFUSALS, type RedriveRefusal } from './judge-redrive.js'
import { NOW, sampleAttempt, sampleEntry, sampleLateOutcome } from './sample-timeline.js'
import type { EntryTimeline } from './timeline.js'

const HOUR = 3_600_000
const key = (lifetimeMs: number): KnownContract => ({
  idempotency: { kind: 'header', header: 'K', quoted: false, lifetimeMs, marginMs: 60_000 },
})
const DAY = key(24 * HOUR)
const KEYLESS: KnownContract = { idempotency: { kind: 'none' } }
const final = { position: { kind: 'final' as const }, closedAt: NOW - 1_000 }
const dead = { state: 'dead_lettered' as const, reason: 'rejected', ...final, attempts: [sampleAttempt(1, 'rejected')] }
const timeout = sampleAttempt(1, 'uncertain', { cause: 'waiting_for_answer' })
const held = { state: 'uncertain' as const, reason: 'too_old', uncertainSince: NOW, ...final, attempts: [timeout] }
const bare = { ...held, attempts: [{ ...timeout, keySent: null }] }
const lease = {
  kind: 'leased' as const,
  attempt: 1,
  worker: 'w',
  openedAt: NOW,
  expiresAt: NOW + 9,
  uncertainSince: null,
}
const yes = sampleLateOutcome(1, 'accepted')

const REFUSED: Readonly<Record<RedriveRefusal, readonly [Partial<EntryTimeline>, KnownContract]>> = {
  under_way: [{ position: lease }, DAY],
  already_pending: [{}, DAY],
  misplaced: [{ position: { kind: 'nowhere' } }, DAY],
  delivered: [{ state: 'delivered', ...final }, DAY],
  late_yes: [{ ...dead, lateOutcomes: [yes] }, DAY],
  settled_as_delivered: [{ state: 'settled', reason: 'delivered', ...final }, DAY],
  cancelled: [{ state: 'cancelled', reason: 'by_person', ...final }, DAY],
  content_erased: [{ ...dead, contentErased: true }, DAY],
  destination_removed: [dead, 'removed'],
  doubt: [held, 'unknown'],
  doubt_without_key: [held, KEYLESS],
  doubt_sent_without_key: [bare, DAY],
  doubt_key_window_closed: [held, key(60_001)],
}

describe('judgeRedrive', () => {
  it.each(REDRIVE_REFUSALS)('refuses what is %s, with a sentence and a next step of its own (I6)', (because) => {
    const [change, contract] = REFUSED[because]
    const judged = judgeRedrive({ entry: sampleEntry(change), contract, now: NOW })
    expect(judged).toMatchObject({ kind: 'unsafe', because, why: expect.stringMatching(/^[^A-Z].{20,}/) })
    expect(judged.kind === 'unsafe' && judged.next).toMatch(/^[A-Z].*\.$/)
  })

  it('gives no two reasons the same sentence', () => {
    const sentences = REDRIVE_REFUSALS.map((because) => {
      const [change, contract] = REFUSED[because]
      return judgeRedrive({ entry: sampleEntry(change), contract, now: NOW }).why
    })
    expect(new Set(sentences).size).toBe(sentences.length)
  })

  it.each<[string, Partial<EntryTimeline>]>([
    ['a dead letter', dead],
    ['a dead letter that was never tried', { ...dead, attempts: [] }],
    [
      'what a person settled as not delivered',
      {
        ...held,
        state: 'settled',
        reason: 'not_delivered',
        acts: [{ id: 'a', actor: 'ana', action: 'settle', reason: 'r', entry: null, detail: {}, actedAt: NOW }],
      },
    ],
  ])('allows %s, whatever the contract', (_, change) => {
    for (const contract of [DAY, KEYLESS, key(1), 'unknown'] as const) {
      expect(judgeRedrive({ entry: sampleEntry(change), contract, now: NOW })).toMatchObject({
        kind: 'safe',
        inDoubt: false,
        protectedUntil: null,
      })
    }
  })

  it('allows what is in doubt exactly as long as the key window of its first send is open (I6)', () => {
    const entry = sampleEntry({ ...held, firstSentAt: timeout.openedAt })
    const protectedUntil = timeout.openedAt + 24 * HOUR - 60_000
    const ask = (now: number) => judgeRedrive({ entry, contract: DAY, now })
    expect(ask(protectedUntil - 1)).toMatchObject({ kind: 'safe', inDoubt: true, protectedUntil })
    expect(ask(protectedUntil)).toMatchObject({ kind: 'unsafe', because: 'doubt_key_window_closed' })
  })

  it('counts the window from the oldest doubt, also where the first send is not on record', () => {
    const entry = sampleEntry({
      ...held,
      firstSentAt: null,
      attempts: [timeout, { ...timeout, number: 2, openedAt: NOW }],
    })
    expect(judgeRedrive({ entry, contract: DAY, now: NOW })).toMatchObject({
      protectedUntil: timeout.openedAt + 24 * HOUR - 60_000,
    })
  })

  it('trusts no key where a lost worker had a contract without one', () => {
    const lost = { ...timeout, cause: 'worker_lost', keySent: null, digestSent: null, decisionReason: 'no_key' }
    expect(judgeRedrive({ entry: sampleEntry({ ...held, attempts: [lost] }), contract: DAY, now: NOW })).toMatchObject({
      because: 'doubt_sent_without_key',
    })
  })
})
