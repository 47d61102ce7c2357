import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AnswerMatcher } from './answer-matcher.js'
import { type ClassifyContract, classify } from './classify.js'
import type { Sent } from './sent.js'

const NOW = Date.UTC(2026, 0, 1)

function contract(...matchers: Partial<AnswerMatcher>[]): ClassifyContract {
  return {
    idempotency: { kind: 'header', header: 'k', quoted: false, lifetimeMs: 86_400_000, marginMs: 600_000 },
    retry: { firstMs: 5_000, capMs: 3_600_000, maxAttempts: 12, maxAgeMs: 259_200_000, maxRetryAfterMs: 21_600_000 },
    replayMarkers: [{ header: 'Idempotent-Replayed', value: 'true' }],
    matchers: matchers.map((given) => ({
      statuses: [],
      headers: [],
      body: [],
      verdict: { kind: 'rejected', reason: 'refused' },
      ...given,
    })),
  }
}

type Given = { status?: number; headers?: Record<string, string>; body?: string | Buffer | null; cut?: boolean }

function answered({ status = 200, headers = {}, body = '', cut = false }: Given): Sent {
  const bytes = body === null ? null : Buffer.from(body)
  return { kind: 'answered', status, headers, body: bytes, bodyTruncated: cut, durationMs: 1 }
}

const is = (...values: (string | number | boolean | null)[]) => ({ kind: 'one_of', values }) as const
const okFalse: Partial<AnswerMatcher> = { statuses: [200], body: [{ pointer: '/ok', test: is(false) }] }

function kindOf(given: Given, ...matchers: Partial<AnswerMatcher>[]): string {
  return classify(answered(given), contract(...matchers), NOW).kind
}

describe('matchers', () => {
  it('stand over the table of statuses, the first that holds', () => {
    const first: Partial<AnswerMatcher> = { statuses: [409], verdict: { kind: 'accepted', repeat: true } }
    expect(classify(answered({ status: 409 }), contract(first, { statuses: [409] }), NOW)).toEqual({
      kind: 'accepted',
      status: 409,
      repeat: true,
    })
    expect(kindOf({ status: 409 }, { statuses: [[400, 404]] }, first)).toBe('accepted')
    expect(kindOf({ status: 422 }, first)).toBe('rejected')
  })

  it('hold only when status, headers and body all do', () => {
    const matcher: Partial<AnswerMatcher> = {
      statuses: [[400, 499]],
      headers: [{ header: 'transient-error', test: is('true') }],
      body: [{ pointer: '/errorCode', test: is('704', 704) }],
      verdict: { kind: 'uncertain', cause: 'by_matcher' },
    }
    const whole = { status: 422, headers: { 'transient-error': ' TRUE ' }, body: '{"errorCode":704}' }
    expect(kindOf(whole, matcher)).toBe('uncertain')
    expect(kindOf({ ...whole, status: 500 }, { ...matcher, verdict: { kind: 'accepted' } })).toBe('uncertain')
    expect(kindOf({ ...whole, headers: {} }, matcher)).toBe('rejected')
    expect(kindOf({ ...whole, body: '{"errorCode":true}' }, matcher)).toBe('rejected')
  })

  it('compare values of a body exactly, and know whether something is there', () => {
    const on = (test: AnswerMatcher['body'][number]['test'], body: string) =>
      kindOf({ body }, { body: [{ pointer: '/a', test }] })
    expect(on(is(null), '{"a":null}')).toBe('rejected')
    expect(on(is('1'), '{"a":1}')).toBe('accepted')
    expect(on({ kind: 'exists' }, '{"a":null}')).toBe('rejected')
    expect(on({ kind: 'exists' }, '{}')).toBe('accepted')
    expect(on({ kind: 'absent' }, '{"b":1}')).toBe('rejected')
  })

  it('find an error in a success', () => {
    expect(kindOf({ body: '{"ok":false}' }, okFalse)).toBe('rejected')
    expect(kindOf({ body: '{"ok":true}' }, okFalse)).toBe('accepted')
  })

  it('can say that a refusal decides earlier attempts, and that an answer is stuck', () => {
    const forAll = contract({ verdict: { kind: 'rejected', reason: 'refused', decidesEarlier: true } })
    expect(classify(answered({ status: 412 }), forAll, NOW)).toEqual({
      kind: 'rejected',
      status: 412,
      reason: 'refused',
      decidesEarlier: true,
    })
    const held = contract({ verdict: { kind: 'uncertain', cause: 'by_matcher', retryTellsNothing: true } })
    expect(classify(answered({ status: 500 }), held, NOW)).toMatchObject({ kind: 'uncertain', retryTellsNothing: true })
  })

  it('make no success of a body that was lost or cut off before it could be asked: uncertain (I6)', () => {
    for (const lost of [{ body: null }, { body: '{"ok":fal', cut: true }]) {
      expect(classify(answered(lost), contract(okFalse), NOW)).toMatchObject({
        kind: 'uncertain',
        phase: 'reading_answer',
        cause: 'body_unreadable',
        status: 200,
      })
      expect(kindOf({ ...lost, status: 201 }, okFalse)).toBe('accepted')
    }
  })

  it('read an invalid body as one without values, whatever the bytes are', () => {
    expect(kindOf({ body: '<html>' }, okFalse)).toBe('accepted')
    expect(kindOf({ body: '['.repeat(100_000) }, okFalse)).toBe('accepted')
    expect(kindOf({ body: '{"__proto__":{"ok":false}}' }, okFalse)).toBe('accepted')
    fc.assert(
      fc.property(
        fc.oneof(fc.uint8Array(), fc.json().map(Buffer.from)),
        fc.integer({ min: 100, max: 599 }),
        (bytes, status) => {
          const sent = answered({ status, body: Buffer.from(bytes) })
          return (
            typeof classify(sent, contract({ body: [{ pointer: '/a/0/b', test: is(1) }] }, okFalse), NOW).kind ===
            'string'
          )
        },
      ),
      { verbose: 1 },
    )
  })
})
