import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { deliveryIdOf } from './delivery-id.js'
import type { Handshake } from './handshake.js'
import { planPush } from './plan-push.js'
import { type DeliveryIdAt, PLAIN_CONTRACT, type SourceContract } from './source-contract.js'
import { splitJsonList } from './split-json-list.js'
import { request } from './testing/requests.js'
import type { Verified } from './verification.js'

const NOW = Date.parse('2026-01-01T00:00:00Z')
const VERIFIED: Verified = { kind: 'verified', keyId: 'k1', bodyBound: true, signedAt: null }

function source(changes: Partial<SourceContract> = {}, ack: Partial<SourceContract['ack']> = {}): SourceContract {
  return {
    ...PLAIN_CONTRACT,
    name: 'batches',
    path: '/push/batches',
    publicUrl: null,
    verify: () => VERIFIED,
    sign: null,
    binds: { body: true, id: false, time: false, url: false },
    keys: () => [],
    split: splitJsonList('is_malformed'),
    deliveryId: { kind: 'pointer', pointer: '/id' },
    senderAttempt: null,
    eventType: null,
    volatilePointers: [],
    maxAge: null,
    bodyLimitBytes: 262_144,
    ack: {
      status: 204,
      body: null,
      fixedBody: null,
      senderTimeoutMs: 10_000,
      deadlineMs: 2_500,
      onConflict: 'accept',
      onMalformed: 'refuse_400',
      ...ack,
    },
    redeliveryHorizonMs: 86_400_000,
    routes: new Map(),
    otherwise: null,
    ...changes,
  }
}

function plan(contract: SourceContract, body: string, headers: Record<string, string> = {}) {
  let made = 0
  return planPush(contract, request(headers, body), VERIFIED, NOW, () => `id-${++made}`)
}

const deliveriesOf = (result: ReturnType<typeof plan>) => (result.kind === 'planned' ? result.push.deliveries : [])

describe('a batched push', () => {
  test('is as many deliveries, each with the bytes that it had there', () => {
    const body = '\ufeff[ {"id":"a", "n":7615917337495251231} ,{"id":"b","s":"],["}]'
    const planned = deliveriesOf(plan(source(), body))
    expect(planned.map(({ deliveryId, body: bytes }) => [deliveryId, bytes.toString()])).toEqual([
      ['a', '{"id":"a", "n":7615917337495251231}'],
      ['b', '{"id":"b","s":"],["}'],
    ])
    expect(new Set(planned.map(({ id }) => id)).size).toBe(2)
  })

  test('any list comes apart into what its elements are', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { minLength: 1 }), fc.nat(2), (values, indent) => {
        const contract = source({ deliveryId: { kind: 'body_digest' } })
        const planned = deliveriesOf(plan(contract, JSON.stringify(values, null, indent)))
        expect(planned.map(({ body }) => JSON.parse(body.toString()))).toEqual(JSON.parse(JSON.stringify(values)))
      }),
    )
  })

  test('is refused whole when one element can not be used', () => {
    expect(plan(source(), '[{"id":"a"},{}]')).toMatchObject({ kind: 'malformed', cause: 'delivery_id_missing' })
  })

  test('keeps only that element aside where the source quarantines', () => {
    const planned = deliveriesOf(plan(source({}, { onMalformed: 'quarantine' }), '[{"id":"a"},{}]'))
    expect(planned.map(({ disposition }) => disposition.kind)).toEqual(['ignored', 'quarantined'])
  })

  test.each([
    ['[]', 'batch_empty'],
    ['{"id":"a"}', 'batch_not_a_list'],
    [`[${'1,'.repeat(5000)}1]`, 'batch_too_large'],
    ['[1', 'body_not_json'],
  ])('%.20s: %s', (body, cause) => {
    expect(plan(source(), body)).toMatchObject({ kind: 'malformed', cause })
    const kept = deliveriesOf(plan(source({}, { onMalformed: 'quarantine' }), body))
    expect(kept).toMatchObject([
      { deliveryId: expect.stringMatching(/^digest:/), disposition: { kind: 'quarantined' } },
    ])
  })

  test('a document that is no list is one delivery where the sender sends both', () => {
    expect(deliveriesOf(plan(source({ split: splitJsonList('is_one') }), '{"id":"a"}'))).toHaveLength(1)
  })
})

describe('an id of several values', () => {
  const at: DeliveryIdAt = {
    kind: 'composite',
    separator: ':',
    parts: [
      { at: { kind: 'pointer', pointer: '/a' }, optional: false },
      { at: { kind: 'pointer', pointer: '/b' }, optional: true },
    ],
  }
  const idOf = (document: unknown) =>
    deliveryIdOf({ deliveryId: at }, { headers: new Map(), document, form: null }, Buffer.alloc(32))

  test('no two lists of values give one id', () => {
    const part = fc.string({ minLength: 1, maxLength: 8, unit: fc.constantFrom('a', ':', '%', '3') })
    fc.assert(
      fc.property(fc.tuple(part, part), fc.tuple(part, part), ([a, b], [c, d]) => {
        const one = idOf({ a, b })
        const other = idOf({ a: c, b: d })
        expect(JSON.stringify(one) === JSON.stringify(other)).toBe(a === c && b === d)
      }),
      { numRuns: 1000 },
    )
  })

  test('an optional part may be absent, a required one may not', () => {
    expect(idOf({ a: 'x' })).toEqual({ kind: 'id', value: 'x:' })
    expect(idOf({ b: 'x' })).toMatchObject({ kind: 'malformed', cause: 'delivery_id_missing' })
  })

  test('one that is too long is told by its digest', () => {
    const id = idOf({ a: 'x'.repeat(200), b: 'y'.repeat(200) })
    expect(id).toMatchObject({ kind: 'id', value: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) })
    expect(idOf({ a: 'x'.repeat(200), b: `${'y'.repeat(199)}z` })).not.toEqual(id)
  })
})

describe('the first of several places', () => {
  const contract = source({
    split: null,
    decode: { whenForm: 'form', otherwise: 'json' },
    deliveryId: {
      kind: 'first_of',
      places: [
        { kind: 'header', header: 'ce-id' },
        { kind: 'pointer', pointer: '/id' },
        { kind: 'form', name: 'MessageSid' },
      ],
    },
  })

  test('counts', () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    expect(deliveriesOf(plan(contract, '{"id":"b"}', { 'ce-id': 'h' }))).toMatchObject([{ deliveryId: 'h' }])
    expect(deliveriesOf(plan(contract, '{"id":"b"}'))).toMatchObject([{ deliveryId: 'b' }])
    expect(deliveriesOf(plan(contract, 'MessageSid=SM1', form))).toMatchObject([{ deliveryId: 'SM1' }])
    expect(plan(contract, 'MessageSid=SM1&MessageSid=SM2', form)).toMatchObject({ cause: 'delivery_id_invalid' })
    expect(plan(contract, '{}')).toMatchObject({
      cause: 'delivery_id_missing',
      hint: 'header ce-id or field /id or form field MessageSid is absent or blank',
    })
  })
})

test('event time and ordering key are carried as the sender says them, or not at all', () => {
  const contract = source({
    split: null,
    eventTime: { kind: 'pointer', pointer: '/time' },
    orderingKey: { kind: 'pointer', pointer: '/key' },
  })
  expect(deliveriesOf(plan(contract, '{"id":"a","time":"2026-01-01T00:00:00Z","key":"k"}'))).toMatchObject([
    { eventAt: NOW, senderOrderingKey: 'k' },
  ])
  expect(deliveriesOf(plan(contract, '{"id":"a","time":"yesterday","key":7}'))).toMatchObject([
    { eventAt: null, senderOrderingKey: null },
  ])
})

describe('a handshake after verification', () => {
  const challenge: Handshake = {
    when: 'after_verification',
    methods: ['POST'],
    answer: ({ document, verified }) =>
      verified !== null && (document as { type?: string } | undefined)?.type === 'url_verification'
        ? { name: 'url_verification', status: 200, headers: {}, body: 'echo' }
        : null,
  }

  test('is an answer and no delivery', () => {
    const contract = source({ split: null, handshakes: [challenge] })
    expect(plan(contract, '{"type":"url_verification"}')).toMatchObject({ kind: 'handshake', answer: { body: 'echo' } })
    expect(plan(contract, '{"type":"event","id":"a"}')).toMatchObject({ kind: 'planned' })
    expect(plan(contract, 'no JSON')).toMatchObject({ kind: 'malformed' })
  })

  test('of another moment or method is not asked', () => {
    const before = { ...challenge, when: 'before_verification' as const }
    const other = { ...challenge, methods: ['PUT'] }
    const contract = source({ split: null, handshakes: [before, other] })
    expect(plan(contract, '{"type":"url_verification","id":"a"}')).toMatchObject({ kind: 'planned' })
  })
})
