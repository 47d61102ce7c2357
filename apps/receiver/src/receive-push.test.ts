import type { ClaimResult, TransitionOutcome } from '@counterfoil/core'
import { rawHttp, until } from '@counterfoil/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import {
  type HarnessOptions,
  KEY_ID,
  makeSource,
  type PushHarness,
  SECRET,
  signedRequest,
  startPushHarness,
} from './testing/push-harness.js'

const BODY = '{"ticket":"4821","note":"a private remark"}'
let harness: PushHarness

const start = async (options?: HarnessOptions) => {
  harness = await startPushHarness(options)
}
const push = (id = 'd-1', body = BODY) => rawHttp(harness.port, signedRequest(body, { id }))
const line = () => until(() => harness.lines().find(({ msg }) => msg === 'push.received'))
const commit = (kind: 'first' | 'duplicate', outcome: TransitionOutcome | null) => (): ClaimResult => ({
  kind: 'committed',
  results: [
    kind === 'first'
      ? { kind, deliveryUuid: 'uuid', observation: 1, outcome }
      : { kind, deliveryUuid: 'uuid', observation: 2, outcome },
  ],
})

afterEach(() => harness.close())

describe('a push that is committed', () => {
  it('is answered 204, and so is every repeat (I2)', async () => {
    await start()
    const answers = [await push(), await push(), await push()]
    expect(answers.map(({ status, body }) => [status, body])).toEqual(Array(3).fill([204, '']))
    expect(harness.lines().map(({ outcome, observation }) => [outcome, observation])).toEqual([
      ['accepted', 1],
      ['already_processed', 2],
      ['already_processed', 3],
    ])
  })

  it('gets the body of its source, the same words for the first arrival and the repeat', async () => {
    await start({ sources: [makeSource({}, { status: 200, body: (outcome) => ({ accepted: true, outcome }) })] })
    harness.store.script(commit('first', 'applied'))
    harness.store.script(commit('duplicate', 'applied'))
    for (const answer of [await push(), await push()]) {
      expect(answer).toMatchObject({ status: 200, body: '{"accepted":true,"outcome":"applied"}' })
      expect(answer.headers.get('content-type')).toBe('application/json')
    }
    expect(harness.lines().map(({ outcome }) => outcome)).toEqual(['applied', 'already_processed'])
  })

  it('keeps its success status when the words of its source fail', async () => {
    const body = () => {
      throw new Error('broken words')
    }
    await start({ sources: [makeSource({}, { status: 202, body })] })
    expect(await push()).toMatchObject({ status: 202, body: '' })
    expect(harness.lines()).toContainEqual(expect.objectContaining({ msg: 'push.ack_body_failed' }))
  })

  it('leaves an ack row per delivery and wakes the destinations of what was new', async () => {
    await start()
    await push()
    await push()
    await until(() => harness.store.acks.length === 2)
    const [first, repeat] = harness.store.claims.map(({ deliveries }) => deliveries[0])
    expect(harness.store.acks).toMatchObject([
      { deliveryUuid: first?.id, observationId: first?.observationId, status: 204, result: 'written' },
      { deliveryUuid: first?.id, observationId: repeat?.observationId, status: 204, result: 'written' },
    ])
    expect(harness.woken).toEqual(['crm'])
  })

  it('wakes the destinations that the store names, for entries that a transition wrote', async () => {
    await start()
    harness.store.script(() => ({ ...commit('first', 'applied')(), destinations: ['carrier', 'mail'] }) as ClaimResult)
    await push()
    await until(() => harness.woken.length === 2)
    expect(harness.woken).toEqual(['carrier', 'mail'])
  })

  it('is acked as a conflict when the id comes again with other content, or answered 409 where the source says so', async () => {
    await start({ sources: [makeSource(), makeSource({ name: 'strict', path: '/s' }, { onConflict: 'refuse_409' })] })
    await push('c-1')
    expect((await push('c-1', '{"other":1}')).status).toBe(204)
    const strict = (body: string) => rawHttp(harness.port, signedRequest(body, { id: 'c-1', path: '/s' }))
    await strict(BODY)
    expect(await strict('{"other":1}')).toMatchObject({ status: 409 })
    await until(() => harness.store.acks.length === 4)
    expect(harness.store.acks.map(({ status }) => status)).toEqual([204, 204, 204, 409])
    expect(harness.lines().filter(({ outcome }) => outcome === 'conflict')).toHaveLength(2)
  })

  it('is not answered before the store has committed (I1)', async () => {
    await start()
    let finish: (result: ClaimResult) => void = () => {}
    harness.store.script(() => new Promise((resolve) => (finish = resolve)))
    let answered = false
    const answer = push().finally(() => (answered = true))
    await until(() => harness.store.claims.length === 1)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(answered).toBe(false)
    finish(commit('first', null)())
    expect((await answer).status).toBe(204)
  })
})

describe('a push that is not committed', () => {
  it.each<[string, ClaimResult, string]>([
    ['the queue was full', { kind: 'not_started', cause: 'queue_full' }, 'not_started: queue_full'],
    ['its deadline passed while it waited', { kind: 'not_started', cause: 'deadline' }, 'not_started: deadline'],
    ['its deadline passed during COMMIT', { kind: 'in_doubt', cause: 'deadline' }, 'in_doubt: deadline'],
    ['the store failed', { kind: 'unavailable', cause: 'sqlstate 53100' }, 'unavailable: sqlstate 53100'],
  ])('is answered 503 with a bounded Retry-After and spooled: %s', async (_what, result, cause) => {
    await start()
    harness.store.script(() => result)
    const answer = await push()
    expect(answer).toMatchObject({
      status: 503,
      body: '{"type":"about:blank","title":"Service Unavailable","status":503}',
    })
    const retryAfter = Number(answer.headers.get('retry-after'))
    expect(retryAfter).toBeGreaterThanOrEqual(2)
    expect(retryAfter).toBeLessThanOrEqual(10)
    await until(() => harness.spooled.length === 1)
    expect(harness.spooled).toEqual([`d-1: ${cause}`])
    expect(harness.store.acks).toEqual([])
    expect(await line()).toMatchObject({ outcome: 'retryable_failure', cause, status: 503, deliveryId: 'd-1' })
  })

  it('is recorded as answered 503 and committed later when COMMIT landed after its deadline', async () => {
    await start()
    let finish: (result: ClaimResult) => void = () => {}
    const later = new Promise<ClaimResult>((resolve) => (finish = resolve))
    harness.store.script(() => ({ kind: 'in_doubt', cause: 'deadline', later }))
    expect((await push()).status).toBe(503)
    finish(commit('first', null)())
    await until(() => harness.store.acks.length === 1)
    expect(harness.store.acks[0]).toMatchObject({ deliveryUuid: 'uuid', status: 503, result: 'written' })
    expect(harness.woken).toEqual(['crm'])
    expect(harness.lines().at(-1)).toMatchObject({ msg: 'push.committed_later', delivery: 'uuid', status: 503 })
  })

  it('gets the remaining time, rounded up, where a transition refuses what is not due (case B092: clock that decides)', async () => {
    await start()
    harness.store.script(() => ({ kind: 'refused', outcome: 'not_due', retryAfterMs: 60_001 }))
    const answer = await push()
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after')).toBe('61')
    expect(await line()).toMatchObject({ outcome: 'not_due', cause: 'not_due_refused' })
    expect(harness.spooled).toEqual([])
  })

  it('costs a store that throws a 503 and an error line, not the process', async () => {
    await start()
    harness.store.script(() => Promise.reject(new Error('a bug')))
    expect((await push()).status).toBe(503)
    expect((await push()).status).toBe(204)
    expect(harness.lines()).toContainEqual(expect.objectContaining({ msg: 'push.claim_threw', level: 50 }))
  })

  it('is answered 503, not 401, when no key is active or keys can not be read', async () => {
    const unreadable = () => {
      throw new Error('file not found')
    }
    await start({
      sources: [makeSource({ keys: () => [] }), makeSource({ name: 'keyless', path: '/keyless', keys: unreadable })],
    })
    expect((await push()).status).toBe(503)
    expect((await rawHttp(harness.port, signedRequest(BODY, { path: '/keyless' }))).status).toBe(503)
    expect(harness.store.claims).toEqual([])
  })

  it('is answered 503, not 401, while the clock is unknown or too far off', async () => {
    let kind: 'unknown' | 'off' = 'unknown'
    await start({ clock: () => (kind === 'unknown' ? { kind } : { kind, now: Date.now(), offsetMs: 600_000 }) })
    expect((await push()).status).toBe(503)
    kind = 'off'
    expect((await push()).status).toBe(503)
    expect(harness.lines().map(({ cause }) => cause)).toEqual(['clock_unknown', 'clock_off'])
  })

  it('is judged by the database clock, whatever this machine believes (case B092: clock that decides)', async () => {
    const now = Date.now() + 3_600_000
    await start({ clock: () => ({ kind: 'known', now, offsetMs: 0 }) })
    expect((await push()).status).toBe(401)
    expect((await rawHttp(harness.port, signedRequest(BODY, { at: now }))).status).toBe(204)
  })

  it('is turned away before its body is read when there are too many', async () => {
    await start({ maxPushes: 1 })
    let finish: (result: ClaimResult) => void = () => {}
    harness.store.script(() => new Promise((resolve) => (finish = resolve)))
    const first = push('first')
    await until(() => harness.store.claims.length === 1)
    const second = await push('second')
    expect(second.status).toBe(503)
    expect(second.headers.has('retry-after')).toBe(true)
    finish(commit('first', null)())
    expect((await first).status).toBe(204)
    expect((await push('third')).status).toBe(204)
    expect(harness.lines()[0]).toMatchObject({ cause: 'overloaded', signatureResult: 'unchecked', bytes: 0 })
  })

  it('is turned away when the bytes that are held are too many', async () => {
    await start({ maxBytes: 20 })
    expect((await push()).status).toBe(503)
    expect(harness.budget.depth()).toEqual({ pushes: 0, bytes: 0 })
  })
})

describe('the wide line of a push', () => {
  it('tells ids, results and durations, and never a signature, a secret, a payload or a personal reference (I10)', async () => {
    await start()
    await push('d-9')
    const told = await line()
    expect(told).toMatchObject({
      source: 'tickets',
      deliveryId: 'd-9',
      observation: 1,
      senderAttempt: 3,
      eventType: 'ticket.updated',
      signatureResult: 'verified',
      keyId: KEY_ID,
      outcome: 'accepted',
      status: 204,
      ack: 'written',
      references: { ticket: 'ticket-4821' },
      bytes: BODY.length,
    })
    expect(told.delivery).toBe(harness.store.claims[0]?.deliveries[0]?.id)
    for (const name of ['readMs', 'verifyMs', 'claimMs', 'totalMs']) expect(told[name]).toBeTypeOf('number')
    for (const secret of [SECRET, 'private remark', 'ann@example.org']) expect(harness.logText()).not.toContain(secret)
    expect(harness.logText()).not.toMatch(/[0-9a-f]{64}/)
  })

  it('bounds and escapes what a sender wrote', async () => {
    await start()
    await push(`${'é'.repeat(60)}\u00a0\u0085`.slice(0, 61))
    await rawHttp(harness.port, signedRequest(BODY, { id: 'x'.repeat(250) }))
    const ids = harness.lines().map(({ deliveryId }) => String(deliveryId))
    expect(ids.every((id) => id.length < 200)).toBe(true)
    expect(harness.logText()).not.toMatch(/[\u0080-\u009f]/)
  })

  it('is sampled for refused pushes, with the number that was left out', async () => {
    await start({ refusedLinesPerSecond: 3 })
    for (let index = 0; index < 10; index += 1) await rawHttp(harness.port, signedRequest(BODY, { path: '/none' }))
    expect((await push()).status).toBe(204)
    const told = await until(() => harness.lines().find(({ msg }) => msg === 'push.refusals_suppressed'))
    expect(told).toMatchObject({ suppressed: 7 })
    expect(harness.lines().filter(({ status }) => status === 404)).toHaveLength(3)
    expect(harness.lines().filter(({ status }) => status === 204)).toHaveLength(1)
  })
})
