import fc from 'fast-check'
import { describe, it } from 'vitest'
import type { AttemptHistory } from '../outbox/entry.js'
import { type DecideContract, decide } from './decide.js'
import type { Decision } from './decision.js'
import { judgeLease, keyWindowEndsAt } from './key-window.js'
import type { AttemptOutcome } from './outcome.js'

const START = Date.UTC(2026, 0, 1)
const duration = fc.integer({ min: 1, max: 100_000_000 })

const contracts: fc.Arbitrary<DecideContract> = fc.record({
  idempotency: fc.oneof(
    fc.constant({ kind: 'none' } as const),
    fc.constant({ kind: 'upsert' } as const),
    fc.record({
      kind: fc.constant('header' as const),
      header: fc.constant('Idempotency-Key'),
      quoted: fc.boolean(),
      lifetimeMs: duration,
      marginMs: fc.integer({ min: 0, max: 1_000_000 }),
    }),
  ),
  retry: fc.record({
    firstMs: fc.integer({ min: 1, max: 60_000 }),
    capMs: duration,
    maxAttempts: fc.integer({ min: 1, max: 20 }),
    maxAgeMs: duration,
    maxRetryAfterMs: fc.integer({ min: 0, max: 21_600_000 }),
  }),
})

/** What comes of one attempt; `wishMs` is its Retry-After, the rest of the life is time and chance. */
type Step = {
  readonly kind: AttemptOutcome['kind']
  readonly wishMs: number | null
  readonly lateMs: number
  readonly chance: number
}

const steps: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('accepted', 'rejected', 'unauthorised', 'deferred', 'not_sent', 'uncertain', 'uncertain'),
  wishMs: fc.option(fc.integer({ min: 0, max: 21_600_000 })),
  lateMs: fc.integer({ min: 0, max: 10_000_000 }),
  chance: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
})

function outcomeOf({ kind, wishMs }: Step, now: number): AttemptOutcome {
  const notBefore = wishMs === null ? null : now + wishMs
  switch (kind) {
    case 'accepted':
      return { kind, status: 200, repeat: false }
    case 'rejected':
      return { kind, status: 422, reason: 'refused' }
    case 'unauthorised':
      return { kind, status: 401 }
    case 'deferred':
      return { kind, status: 429, notBefore }
    case 'not_sent':
      return { kind, cause: 'connect', code: null }
    case 'uncertain':
      return { kind, phase: 'answered', cause: 'x', status: 500, notBefore }
  }
}

type Sending = {
  readonly at: number
  readonly history: AttemptHistory
  readonly decision: Decision
  readonly outcome: AttemptOutcome
}

/** Plays one entry's life as the worker does: lease → judge → send → decide → wait, possibly longer than decided. */
function live(contract: DecideContract, life: readonly Step[]): { sendings: Sending[]; end: Decision | null } {
  const sendings: Sending[] = []
  let now = START
  let history: AttemptHistory = { attempts: 0, tries: 0, firstSentAt: null, uncertainSince: null, createdAt: START }
  for (const step of life) {
    const isFirstSend = history.firstSentAt === null
    history = { ...history, firstSentAt: history.firstSentAt ?? now }
    const judged = judgeLease(history, contract, now)
    if (judged.kind === 'hold') return { sendings, end: judged }
    const outcome = outcomeOf(step, now)
    const decision = decide(outcome, history, contract, now, () => step.chance)
    sendings.push({ at: now, history, decision, outcome })
    if (decision.kind !== 'retry' && decision.kind !== 'pause') return { sendings, end: decision }
    history = {
      ...history,
      attempts: history.attempts + 1,
      tries: history.tries + (decision.kind === 'retry' && decision.spendsBudget ? 1 : 0),
      firstSentAt: outcome.kind === 'not_sent' && isFirstSend ? null : history.firstSentAt,
      uncertainSince: history.uncertainSince ?? (outcome.kind === 'uncertain' ? now : null),
    }
    now += decision.dueInMs + step.lateMs
  }
  return { sendings, end: null }
}

function holds(property: (contract: DecideContract, lived: ReturnType<typeof live>) => boolean): void {
  const lives = fc.array(steps, { minLength: 1, maxLength: 40 })
  fc.assert(
    fc.property(contracts, lives, (contract, life) => property(contract, live(contract, life))),
    { numRuns: 2_000, verbose: 1 },
  )
}

describe('whatever happens to an entry', () => {
  it('a send in doubt is never repeated without a key or outside its window', () => {
    holds((contract, { sendings }) =>
      sendings
        .filter(({ history }) => history.uncertainSince !== null)
        .every(({ at, history }) => at < (keyWindowEndsAt(history, contract, at) ?? Number.NEGATIVE_INFINITY)),
    )
  })

  it('a retry of doubt is only decided for a time inside the window', () => {
    holds((contract, { sendings }) =>
      sendings.every(({ at, history, decision, outcome }) => {
        const inDoubt = history.uncertainSince !== null || outcome.kind === 'uncertain'
        if (!inDoubt || decision.kind !== 'retry') return true
        return at + decision.dueInMs < (keyWindowEndsAt(history, contract, at) ?? Number.NEGATIVE_INFINITY)
      }),
    )
  })

  it('doubt ends only as delivered or as uncertain (I6)', () => {
    holds((_, { sendings, end }) => {
      const wasInDoubt = sendings.some(({ outcome }) => outcome.kind === 'uncertain')
      return !wasInDoubt || end === null || end.kind === 'finish' || end.kind === 'hold'
    })
  })

  it('uncertain is never made of an entry without doubt', () => {
    holds(
      (_, { sendings, end }) => end?.kind !== 'hold' || sendings.some(({ outcome }) => outcome.kind === 'uncertain'),
    )
  })

  it('tries are bounded by the budget', () => {
    holds((contract, { sendings }) => {
      const spent = sendings.filter(({ decision }) => decision.kind === 'retry' && decision.spendsBudget).length
      return spent < contract.retry.maxAttempts
    })
  })

  it('delays are bounded: by the cap, or a little over what the destination asked for', () => {
    holds((contract, { sendings }) =>
      sendings.every(({ at, decision, outcome }) => {
        if (decision.kind !== 'retry' && decision.kind !== 'pause') return true
        const wishMs = 'notBefore' in outcome && outcome.notBefore !== null ? outcome.notBefore - at : 0
        return decision.dueInMs >= 0 && decision.dueInMs <= Math.max(contract.retry.capMs, wishMs + 5_000)
      }),
    )
  })

  it('nothing is planned beyond the maximum age, except behind a pause for credentials', () => {
    holds((contract, { sendings }) =>
      sendings.every(({ at, decision }) => {
        const isRetry = decision.kind === 'retry' || (decision.kind === 'pause' && decision.because === 'throttled')
        return !isRetry || at + decision.dueInMs - START <= contract.retry.maxAgeMs
      }),
    )
  })
})
