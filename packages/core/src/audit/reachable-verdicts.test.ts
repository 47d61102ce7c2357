import { describe, expect, it } from 'vitest'
import { decide } from '../attempt/decide.js'
import type { AttemptOutcome } from '../attempt/outcome.js'
import type { AttemptHistory } from '../outbox/entry.js'
import { judgeVerdict } from './judge-verdict.js'
import { DIGEST, KEY, NOW, sampleAttempt, sampleEntry } from './sample-timeline.js'
import type { AttemptOnRecord, EntryTimeline } from './timeline.js'
import { weighAttempts } from './weigh-attempts.js'

const OUTCOMES: readonly AttemptOutcome[] = [
  { kind: 'accepted', status: 202, repeat: false },
  { kind: 'accepted', status: 200, repeat: true },
  { kind: 'rejected', status: 422, reason: 'refused' },
  { kind: 'unauthorised', status: 401 },
  { kind: 'deferred', status: 429, notBefore: null },
  { kind: 'not_sent', cause: 'connect', code: 'ECONNREFUSED' },
  { kind: 'uncertain', phase: 'waiting_for_answer', cause: 'timeout', status: null, notBefore: null },
  { kind: 'uncertain', phase: 'worker_lost', cause: 'lease_expired', status: null, notBefore: null },
]

const KEYED = {
  kind: 'header' as const,
  header: 'idempotency-key',
  quoted: false,
  lifetimeMs: 86_400_000,
  marginMs: 60_000,
}
const RETRY = { firstMs: 5_000, capMs: 60_000, maxAttempts: 3, maxAgeMs: 86_400_000, maxRetryAfterMs: 3_600_000 }

/** Plays a history through the very rules that the worker decides by; stops where the entry ends. */
function play(outcomes: readonly AttemptOutcome[], hasKey: boolean): EntryTimeline | null {
  let entry = sampleEntry()
  let history: AttemptHistory = { attempts: 0, tries: 0, firstSentAt: null, uncertainSince: null, createdAt: NOW }
  for (const [index, outcome] of outcomes.entries()) {
    if (entry.state !== 'pending') return null
    const contract = { idempotency: hasKey ? KEYED : { kind: 'none' as const }, retry: RETRY }
    const decision = decide(outcome, { ...history, firstSentAt: history.firstSentAt ?? NOW }, contract, NOW, () => 0.5)
    const uncertainSince = outcome.kind === 'uncertain' ? (history.uncertainSince ?? NOW) : history.uncertainSince
    const because = 'because' in decision ? decision.because : null
    const attempts = [...entry.attempts, toAttempt(index + 1, outcome, hasKey, decision.kind, because)]
    history = { ...history, attempts: index + 1, tries: history.tries + 1, uncertainSince }
    const final = { position: { kind: 'final' as const }, closedAt: NOW }
    if (decision.kind === 'finish')
      entry = { ...entry, ...final, attempts, state: 'delivered', repeat: decision.repeat }
    else if (decision.kind === 'hold')
      entry = { ...entry, ...final, attempts, state: 'uncertain', reason: because, uncertainSince }
    else if (decision.kind === 'dead_letter')
      entry = { ...entry, ...final, attempts, state: 'dead_lettered', reason: because }
    else entry = { ...entry, attempts, position: { kind: 'due', dueAt: NOW + 1, uncertainSince } }
  }
  return entry
}

function toAttempt(
  number: number,
  outcome: AttemptOutcome,
  hasKey: boolean,
  decision: string,
  because: string | null,
): AttemptOnRecord {
  const isSeen = outcome.kind !== 'not_sent' && !(outcome.kind === 'uncertain' && outcome.phase === 'worker_lost')
  return sampleAttempt(number, outcome.kind, {
    status: 'status' in outcome ? (outcome.status ?? null) : null,
    repeat: outcome.kind === 'accepted' && outcome.repeat,
    cause: outcome.kind === 'uncertain' ? outcome.phase : outcome.kind === 'not_sent' ? outcome.cause : null,
    keySent: isSeen && hasKey ? KEY : null,
    digestSent: isSeen ? DIGEST : null,
    decision,
    decisionReason: because,
  })
}

function histories(): { title: string; entry: EntryTimeline }[] {
  const all: { title: string; entry: EntryTimeline }[] = []
  const extend = (outcomes: readonly AttemptOutcome[], hasKey: boolean) => {
    const entry = play(outcomes, hasKey)
    if (entry === null) return
    const names = outcomes.map((one) =>
      one.kind === 'uncertain' ? one.phase : one.kind + ('repeat' in one && one.repeat ? '(repeat)' : ''),
    )
    all.push({ title: `${hasKey ? 'key' : 'no key'}: ${names.join(', ') || 'never tried'}`, entry })
    if (outcomes.length < 4) for (const outcome of OUTCOMES) extend([...outcomes, outcome], hasKey)
  }
  extend([], true)
  extend([], false)
  return all
}

describe('every history of up to four attempts that the rules can produce', () => {
  const all = histories()

  it('is many', () => {
    expect(all.length).toBeGreaterThan(500)
  })

  it('has a verdict that says neither more nor less than its attempts prove (I6)', () => {
    for (const { title, entry } of all) {
      const { kind, sentence, advice } = judgeVerdict({ kind: 'entry', entry, readAt: NOW })
      const { accepted, doubtful } = weighAttempts(entry)
      const delivered = ['delivered_once', 'delivered_repeat_ignored', 'possibly_delivered_more_than_once'].includes(
        kind,
      )
      expect(delivered, title).toBe(accepted.length > 0)
      expect(kind === 'delivered_repeat_ignored', title).toBe(accepted.some((attempt) => attempt.repeat))
      // The rules retry a doubtful send only under a key, so nothing they produce can have happened twice.
      expect(kind, title).not.toBe('possibly_delivered_more_than_once')
      expect(kind === 'unknown', title).toBe(accepted.length === 0 && doubtful.length > 0)
      if (kind === 'unknown')
        expect(`${sentence} ${advice.text}`.toLowerCase(), title).not.toMatch(/not delivered(?!\|)/)
      if (kind === 'not_delivered') expect(entry.state, title).toBe('dead_lettered')
      if (kind === 'not_delivered_yet') expect(entry.state, title).toBe('pending')
      expect(advice.redrive.safe, title).toBe(kind === 'not_delivered')
      expect(sentence, title).not.toMatch(/(?<!not )\bsent\b(?! again)/)
      expect(sentence, title).not.toMatch(/undefined|null|NaN/)
    }
  })
})
