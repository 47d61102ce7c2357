import { describe, expect, it } from 'vitest'
import type { AttemptHistory } from '../outbox/entry.js'
import { type DecideContract, decide } from './decide.js'
import { judgeLease, keyWindowEndsAt } from './key-window.js'
import type { AttemptOutcome } from './outcome.js'
import { heldBack, leaseReturned, workerLost } from './own-outcomes.js'

const NOW = Date.UTC(2026, 0, 2)
const HOUR = 3_600_000

const keyed: DecideContract = {
  idempotency: { kind: 'header', header: 'Idempotency-Key', quoted: false, lifetimeMs: 2 * HOUR, marginMs: 600_000 },
  retry: { firstMs: 5_000, capMs: HOUR, maxAttempts: 5, maxAgeMs: 72 * HOUR, maxRetryAfterMs: 6 * HOUR },
}
const keyless: DecideContract = { ...keyed, idempotency: { kind: 'none' } }

const fresh: AttemptHistory = { attempts: 0, tries: 0, firstSentAt: NOW, uncertainSince: null, createdAt: NOW - 1_000 }
const inDoubt: AttemptHistory = {
  ...fresh,
  attempts: 1,
  tries: 1,
  firstSentAt: NOW - 60_000,
  uncertainSince: NOW - 60_000,
}

const accepted: AttemptOutcome = { kind: 'accepted', status: 200, repeat: true }
const refused: AttemptOutcome = { kind: 'rejected', status: 422, reason: 'refused' }
const gone: AttemptOutcome = { kind: 'rejected', status: 410, reason: 'gone' }
const unsendable: AttemptOutcome = { kind: 'rejected', status: null, reason: 'unsendable' }
const unauthorised: AttemptOutcome = { kind: 'unauthorised', status: 401 }
const deferred: AttemptOutcome = { kind: 'deferred', status: 503, notBefore: null }
const unreachable: AttemptOutcome = { kind: 'not_sent', cause: 'connect', code: 'ECONNREFUSED' }
const doubtful: AttemptOutcome = {
  kind: 'uncertain',
  phase: 'waiting_for_answer',
  cause: 'UND_ERR_HEADERS_TIMEOUT',
  status: null,
  notBefore: null,
}

function judge(outcome: AttemptOutcome, history: AttemptHistory, contract = keyed) {
  return decide(outcome, history, contract, NOW, () => 0.5)
}

describe('an accepted attempt', () => {
  it('delivers, and resolves any doubt, because the key is the same (I6)', () => {
    for (const history of [fresh, inDoubt, { ...inDoubt, tries: 99, firstSentAt: 0, createdAt: 0 }]) {
      expect(judge(accepted, history)).toEqual({ kind: 'finish', as: 'delivered', repeat: true })
    }
  })
})

describe('a rejected attempt', () => {
  it('is a dead letter when no earlier attempt is in doubt', () => {
    expect(judge(refused, fresh)).toEqual({ kind: 'dead_letter', because: 'rejected' })
    expect(judge(unsendable, fresh)).toEqual({ kind: 'dead_letter', because: 'unsendable' })
  })

  it('says nothing about an earlier attempt that may have worked (I6)', () => {
    for (const outcome of [refused, unsendable]) {
      expect(judge(outcome, inDoubt)).toEqual({ kind: 'hold', as: 'uncertain', because: 'rejected_after_doubt' })
    }
  })

  it('decides the earlier one too where a matcher knows that its answer does', () => {
    const forAll: AttemptOutcome = { ...refused, decidesEarlier: true }
    expect(judge(forAll, inDoubt)).toEqual({ kind: 'dead_letter', because: 'rejected_for_all' })
    expect(judge(forAll, fresh)).toEqual({ kind: 'dead_letter', because: 'rejected' })
  })

  it('stops the destination where it is gone', () => {
    expect(judge(gone, fresh)).toEqual({ kind: 'dead_letter', because: 'rejected', stopsDestination: 'gone' })
    expect(judge(gone, inDoubt)).toMatchObject({ kind: 'hold', stopsDestination: 'gone' })
  })
})

describe('an unauthorised attempt', () => {
  it('pauses the destination and costs the entry nothing, however often', () => {
    for (const history of [fresh, inDoubt, { ...fresh, attempts: 500, tries: 4, createdAt: 0 }]) {
      expect(judge(unauthorised, history)).toEqual({
        kind: 'pause',
        because: 'credentials',
        dueInMs: 0,
        pauseMs: 60_000,
      })
    }
  })
})

describe('a deferred attempt', () => {
  it('pauses the destination for as long as it asked, and costs no try', () => {
    const asked: AttemptOutcome = { kind: 'deferred', status: 429, notBefore: NOW + 120_000 }
    const decision = judge(asked, fresh)
    expect(decision).toMatchObject({ kind: 'pause', because: 'throttled', pauseMs: 120_000 })
    expect(decision).toMatchObject({ dueInMs: 122_500 })
  })

  it('pauses it for a second when it did not say', () => {
    expect(judge(deferred, fresh)).toEqual({ kind: 'pause', because: 'throttled', dueInMs: 5_000, pauseMs: 1_000 })
  })

  it('does not use up the tries, but backs off and ends by age', () => {
    const often = { ...fresh, attempts: 40, tries: 4 }
    expect(judge(deferred, often)).toMatchObject({ kind: 'pause', dueInMs: 1_802_500 })
    expect(judge(deferred, { ...often, createdAt: NOW - 72 * HOUR })).toEqual({
      kind: 'dead_letter',
      because: 'too_old',
    })
  })

  it('holds a doubtful entry whose key would be forgotten by then', () => {
    const asked: AttemptOutcome = { kind: 'deferred', status: 429, notBefore: NOW + 3 * HOUR }
    expect(judge(asked, inDoubt)).toEqual({ kind: 'hold', as: 'uncertain', because: 'key_window_closed' })
    expect(judge(asked, fresh).kind).toBe('pause')
  })
})

describe('an attempt that was not sent', () => {
  it('is tried again after about 5 s and spends a try', () => {
    expect(judge(unreachable, fresh)).toEqual({
      kind: 'retry',
      dueInMs: 5_000,
      because: 'not_sent',
      spendsBudget: true,
    })
    expect(judge(unreachable, fresh, keyless).kind).toBe('retry')
  })

  it('ends as a dead letter when the tries or the age are used up', () => {
    expect(judge(unreachable, { ...fresh, tries: 4 })).toEqual({ kind: 'dead_letter', because: 'attempts_used_up' })
    expect(judge(unreachable, { ...fresh, createdAt: NOW - 72 * HOUR })).toEqual({
      kind: 'dead_letter',
      because: 'too_old',
    })
  })

  it('ends as uncertain when the tries or the age are used up while a doubt is open (I6)', () => {
    expect(judge(unreachable, { ...inDoubt, tries: 4 })).toMatchObject({ kind: 'hold', because: 'attempts_used_up' })
    expect(judge(unreachable, { ...inDoubt, createdAt: NOW - 72 * HOUR })).toMatchObject({
      kind: 'hold',
      because: 'too_old',
    })
  })

  it('costs no try when that was our own doing', () => {
    expect(judge(leaseReturned(), { ...fresh, tries: 4 })).toMatchObject({ kind: 'retry', spendsBudget: false })
    expect(judge(heldBack(), inDoubt).kind).toBe('retry')
  })
})

describe('an uncertain attempt', () => {
  it('is repeated under the same key while the destination remembers it', () => {
    for (const history of [fresh, inDoubt]) {
      expect(judge(doubtful, history)).toMatchObject({
        kind: 'retry',
        because: 'uncertain_with_key',
        spendsBudget: true,
      })
    }
    expect(judge(workerLost(), fresh).kind).toBe('retry')
  })

  it('is held where the destination honours no keys', () => {
    expect(judge(doubtful, fresh, keyless)).toEqual({ kind: 'hold', as: 'uncertain', because: 'no_key' })
    expect(judge(workerLost(), fresh, keyless)).toEqual({ kind: 'hold', as: 'uncertain', because: 'no_key' })
  })

  it('is judged by when it would go out, not by now', () => {
    const closesIn = (ms: number) => ({ ...fresh, firstSentAt: NOW + ms - 2 * HOUR + 600_000 })
    expect(judge(doubtful, closesIn(5_000))).toMatchObject({ kind: 'hold', because: 'key_window_closed' })
    expect(judge(doubtful, closesIn(5_001)).kind).toBe('retry')
  })

  it('waits at least as long as the destination says that it is still at work', () => {
    const inProgress: AttemptOutcome = { ...doubtful, phase: 'answered', status: 409, notBefore: NOW + 30_000 }
    expect(judge(inProgress, fresh)).toMatchObject({ kind: 'retry', dueInMs: 31_500 })
  })

  it('is tried a last time before its key is forgotten, where the destination asked for later than that', () => {
    const late: AttemptOutcome = { ...doubtful, phase: 'answered', status: 409, notBefore: NOW + 3 * HOUR }
    const windowMs = 2 * HOUR - 600_000
    expect(judge(late, fresh)).toMatchObject({ kind: 'retry', dueInMs: windowMs - 5_000 })
    expect(judge(late, { ...fresh, firstSentAt: NOW - windowMs + 8_000 })).toMatchObject({
      kind: 'hold',
      because: 'key_window_closed',
    })
  })

  it('is held where the same key would only bring the same answer', () => {
    const stored: AttemptOutcome = { ...doubtful, phase: 'answered', status: 500, retryTellsNothing: true }
    expect(judge(stored, fresh)).toEqual({ kind: 'hold', as: 'uncertain', because: 'retry_tells_nothing' })
    expect(judge(stored, fresh, keyless)).toMatchObject({ kind: 'hold', because: 'no_key' })
  })

  it('is repeated for ever where the action writes over itself', () => {
    const upsert: DecideContract = { ...keyed, idempotency: { kind: 'upsert' } }
    expect(judge(doubtful, { ...fresh, firstSentAt: 0 }, upsert)).toMatchObject({ kind: 'retry' })
    expect(judgeLease({ ...inDoubt, firstSentAt: 0 }, upsert, NOW)).toEqual({ kind: 'send' })
  })

  it('ends as uncertain, never as a dead letter, when tries or age are used up (I6)', () => {
    expect(judge(doubtful, { ...fresh, tries: 4 })).toMatchObject({ kind: 'hold', because: 'attempts_used_up' })
    expect(judge(doubtful, { ...fresh, createdAt: NOW - 72 * HOUR })).toMatchObject({
      kind: 'hold',
      because: 'too_old',
    })
  })
})

describe('judgeLease', () => {
  it('sends what is not in doubt, however old', () => {
    expect(judgeLease({ ...fresh, firstSentAt: 0 }, keyed, NOW)).toEqual({ kind: 'send' })
    expect(judgeLease(fresh, keyless, NOW)).toEqual({ kind: 'send' })
  })

  it('holds what is in doubt once its window has closed during a pause', () => {
    const endsAt = keyWindowEndsAt(inDoubt, keyed, NOW) ?? 0
    expect(endsAt).toBe(NOW - 60_000 + 2 * HOUR - 600_000)
    expect(judgeLease(inDoubt, keyed, endsAt - 1)).toEqual({ kind: 'send' })
    expect(judgeLease(inDoubt, keyed, endsAt)).toEqual({ kind: 'hold', as: 'uncertain', because: 'key_window_closed' })
  })

  it('holds what is in doubt when the destination no longer honours keys', () => {
    expect(judgeLease(inDoubt, keyless, NOW)).toEqual({ kind: 'hold', as: 'uncertain', because: 'no_key' })
  })
})
