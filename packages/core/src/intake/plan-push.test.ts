import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ActionDraft } from '../transition/transition.js'
import { ConfigurationBug } from './configuration-bug.js'
import { type PlanResult, planPush } from './plan-push.js'
import type { PlannedDelivery } from './planned-push.js'
import type { PushRequest } from './push-request.js'
import { PLAIN_CONTRACT, type Route, type SourceContract } from './source-contract.js'
import { request as toRequest } from './testing/requests.js'
import type { Verified } from './verification.js'

const NOW = Date.parse('2026-01-01T00:00:00Z')
const VERIFIED: Verified = { kind: 'verified', keyId: 'k1', bodyBound: true, signedAt: null }

function route(changes: Partial<Route> = {}): Route {
  return { parse: null, references: () => [], transition: null, actions: () => [], ...changes }
}

function source(changes: Partial<SourceContract> = {}): SourceContract {
  return {
    ...PLAIN_CONTRACT,
    name: 'tickets',
    path: '/push/tickets',
    publicUrl: null,
    verify: () => VERIFIED,
    sign: null,
    binds: { body: true, id: false, time: false, url: false },
    keys: () => [],
    deliveryId: { kind: 'header', header: 'x-delivery-id' },
    senderAttempt: null,
    eventType: { kind: 'pointer', pointer: '/type' },
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
    },
    redeliveryHorizonMs: 259_200_000,
    routes: new Map([['ticket.updated', route()]]),
    otherwise: null,
    ...changes,
  }
}

const quarantining = { ack: { ...source().ack, onMalformed: 'quarantine' as const } }

function push(body: string | Buffer, headers: Readonly<Record<string, string | readonly string[]>> = {}): PushRequest {
  return toRequest({ 'x-delivery-id': 'd-1', ...headers }, body)
}

function plan(contract: SourceContract, request: PushRequest): PlanResult {
  let made = 0
  return planPush(contract, request, VERIFIED, NOW, () => `id-${++made}`)
}

function delivery(result: PlanResult): PlannedDelivery {
  const first = result.kind === 'planned' ? result.push.deliveries[0] : undefined
  if (first === undefined) throw new Error(`not planned: ${JSON.stringify(result)}`)
  return first
}

const TICKET = '{"type":"ticket.updated","ticket":"ticket-4821"}'
const draft = (changes: Partial<ActionDraft> = {}): ActionDraft => ({
  destination: 'crm',
  idempotencyKey: 'ticket-4821:updated',
  body: { ticket: 'ticket-4821' },
  ...changes,
})

describe('a planned delivery', () => {
  test('carries the bytes as they came, their digest, the key, and what the route asks for', () => {
    const routes = new Map([
      [
        'ticket.updated',
        route({
          actions: () => [draft()],
          references: () => [{ name: 'ticket', value: 'ticket-4821', personal: false }],
        }),
      ],
    ])
    const planned = delivery(plan(source({ routes }), push(TICKET, { 'content-type': 'application/json' })))
    expect(planned).toMatchObject({
      source: 'tickets',
      deliveryId: 'd-1',
      eventType: 'ticket.updated',
      keyId: 'k1',
      contentType: 'application/json',
      references: [{ name: 'ticket', value: 'ticket-4821', personal: false }],
    })
    expect(planned.body.toString()).toBe(TICKET)
    expect(planned.identityDigest).toEqual(createHash('sha256').update(TICKET).digest())
    expect(planned.id).not.toBe(planned.observationId)
    expect(planned.disposition).toMatchObject({
      kind: 'act',
      transition: null,
      entries: [{ destination: 'crm', idempotencyKey: 'ticket-4821:updated', contentType: 'application/json' }],
    })
  })

  test('the sender’s own attempt number is read when it is a small whole number, and never decides anything', () => {
    const contract = source({ senderAttempt: { kind: 'header', header: 'x-attempt' } })
    expect(delivery(plan(contract, push(TICKET, { 'x-attempt': '3' }))).senderAttempt).toBe(3)
    for (const odd of ['-1', '1.5', 'many', '99999999999', ['1', '2']]) {
      expect(delivery(plan(contract, push(TICKET, { 'x-attempt': odd }))).senderAttempt).toBeNull()
    }
  })

  test('unhandled event type: kept as ignored with its reason (case B032: redelivery that leaves no trace)', () => {
    const ignored = delivery(plan(source(), push('{"type":"ticket.merged"}')))
    expect(ignored).toMatchObject({
      eventType: 'ticket.merged',
      disposition: { kind: 'ignored', reason: expect.any(String) },
    })
    expect(delivery(plan(source(), push('{}'))).disposition.kind).toBe('ignored')
    for (const type of ['__proto__', 'constructor', 'toString']) {
      expect(delivery(plan(source(), push(JSON.stringify({ type })))).disposition.kind).toBe('ignored')
    }
  })

  test('`otherwise` takes every type without a route of its own', () => {
    const contract = source({ otherwise: route({ actions: () => [draft()] }) })
    expect(delivery(plan(contract, push('{"type":"x"}'))).disposition).toMatchObject({ kind: 'act', entries: [{}] })
  })

  test('a transition is bound to its subject and guard, and its route freezes no entries', () => {
    const transition = {
      use: { kind: 'custom' as const, name: 'expire', apply: async () => ({ outcome: 'applied' as const }) },
      subject: () => 'R-1842',
      guard: () => NOW,
      notDue: 'defer' as const,
    }
    const contract = source({ routes: new Map([['ticket.updated', route({ transition })]]) })
    expect(delivery(plan(contract, push(TICKET))).disposition).toMatchObject({
      kind: 'act',
      entries: [],
      transition: { subject: 'R-1842', guardMs: NOW, notDue: 'defer', payload: { ticket: 'ticket-4821' } },
    })
  })

  test('the same action twice is one entry', () => {
    const routes = new Map([['ticket.updated', route({ actions: () => [draft(), draft()] })]])
    const { disposition } = delivery(plan(source({ routes }), push(TICKET)))
    expect(disposition.kind === 'act' && disposition.entries.length).toBe(1)
  })
})

describe('identity: delivery id', () => {
  const byBody = source({ deliveryId: { kind: 'pointer', pointer: '/id' }, eventType: null })
  const idOf = (result: PlanResult) => (result.kind === 'planned' ? delivery(result).deliveryId : result)

  test('white space around a header is no part of it; case and look-alikes make other ids (case B027: scope of a delivery id)', () => {
    for (const id of ['ABC-1', 'abc-1', 'ABC‑1', '../../x', 'a:b', '123', '😀']) {
      const wire = Buffer.from(` \t${id}  `).toString('latin1')
      expect(idOf(plan(source(), push(TICKET, { 'x-delivery-id': wire })))).toBe(id)
    }
  })

  test.each(['undefined', 'null', '__proto__', 'constructor'])('the text %j is an id like any other', (id) => {
    expect(idOf(plan(source(), push(TICKET, { 'x-delivery-id': id })))).toBe(id)
    expect(idOf(plan(byBody, push(JSON.stringify({ id }))))).toBe(id)
  })

  test('absent, blank or null: malformed, never the text "undefined" (case B029: missing delivery id)', () => {
    const absent = { ...push(TICKET), headers: new Map() }
    expect(plan(source(), absent)).toMatchObject({ kind: 'malformed', cause: 'delivery_id_missing' })
    expect(plan(source(), push(TICKET, { 'x-delivery-id': ' \t' }))).toMatchObject({ cause: 'delivery_id_missing' })
    for (const body of ['{}', '{"id":null}', '{"id":""}', '{"id":"  "}', '[]', '"x"', '']) {
      expect(plan(byBody, push(body))).toMatchObject({ kind: 'malformed', cause: 'delivery_id_missing' })
    }
  })

  test('repeated header: neither value is taken', () => {
    expect(plan(source(), push(TICKET, { 'x-delivery-id': ['a', 'a'] }))).toMatchObject({
      cause: 'delivery_id_invalid',
    })
  })

  test.each([
    ['255 bytes', 'a'.repeat(255), true],
    ['256 bytes', 'a'.repeat(256), false],
    ['10,000 bytes', 'a'.repeat(10_000), false],
    ['255 bytes in more-byte characters', `${'é'.repeat(127)}a`, true],
    ['256 bytes in more-byte characters', 'é'.repeat(128), false],
    ['NUL', 'a\0b', false],
    ['a newline', 'a\nb', false],
    ['a C1 control', 'a\u0085b', false],
    ['a lone surrogate', 'a\ud800b', false],
  ])('%s: a stated limit, with a reason', (_name, id, accepted) => {
    const result = plan(byBody, push(JSON.stringify({ id })))
    if (accepted) expect(idOf(result)).toBe(id)
    else expect(result).toMatchObject({ kind: 'malformed', cause: 'delivery_id_invalid' })
  })

  test('numbers: safe integers only, because a longer one was already rounded', () => {
    expect(idOf(plan(byBody, push('{"id":4821}')))).toBe('4821')
    expect(idOf(plan(byBody, push('{"id":9007199254740991}')))).toBe('9007199254740991')
    for (const id of ['9007199254740993', '7615917337495251231', '1.5', '1e400', 'true', '{}', '["a"]']) {
      expect(plan(byBody, push(`{"id":${id}}`))).toMatchObject({ cause: 'delivery_id_invalid' })
    }
  })

  test('duplicate keys: the id is the value that the route sees (case B042: numbers that change on the way)', () => {
    expect(idOf(plan(byBody, push('{"id":"first","id":"second"}')))).toBe('second')
  })

  test('a source without ids: equal bytes are the same delivery (case B029: missing delivery id)', () => {
    const contract = source({ deliveryId: { kind: 'body_digest' } })
    expect(idOf(plan(contract, push(TICKET)))).toBe(`digest:${createHash('sha256').update(TICKET).digest('hex')}`)
    expect(idOf(plan(contract, push(`${TICKET} `)))).not.toBe(idOf(plan(contract, push(TICKET))))
  })

  test('headers that are not UTF-8 are no ids', () => {
    expect(plan(source(), push(TICKET, { 'x-delivery-id': 'a\xff' }))).toMatchObject({ cause: 'delivery_id_invalid' })
  })
})

describe('unusable content', () => {
  const cases = [
    ['a form', 'payload=%7B%7D', 'body_not_json'],
    ['cut JSON', '{"a":', 'body_not_json'],
    ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'body_not_utf8'],
    ['100,000 nested arrays', '['.repeat(100_000), 'body_too_deep'],
  ] as const

  test.each(cases)('%s: malformed, with the body to blame', (_name, body, cause) => {
    expect(plan(source(), push(body))).toMatchObject({ kind: 'malformed', cause })
    const byBody = source({ deliveryId: { kind: 'pointer', pointer: '/id' } })
    expect(plan(byBody, push(body))).toMatchObject({ kind: 'malformed', cause })
  })

  test.each(cases)('%s: kept as quarantined where the source says so', (_name, body, cause) => {
    const kept = delivery(plan(source(quarantining), push(body)))
    expect(kept).toMatchObject({ deliveryId: 'd-1', disposition: { kind: 'quarantined' } })
    expect(kept.disposition.kind === 'quarantined' && kept.disposition.reason).toContain(cause)
    expect(kept.body).toEqual(Buffer.from(body))
  })

  test('a quarantined push without an id is known by its digest, so that its repeat is one', () => {
    const contract = source({ ...quarantining, deliveryId: { kind: 'pointer', pointer: '/id' } })
    const first = delivery(plan(contract, push('{"a":1}')))
    expect(first.deliveryId).toMatch(/^digest:[0-9a-f]{64}$/)
    expect(delivery(plan(contract, push('{"a":1}'))).deliveryId).toBe(first.deliveryId)
  })

  test('a schema failure is malformed with what the route says', () => {
    const parse = () => ({ ok: false as const, message: '/ticket invalid_type' })
    const contract = source({ routes: new Map([['ticket.updated', route({ parse })]]) })
    expect(plan(contract, push(TICKET))).toEqual({ kind: 'malformed', cause: 'schema', hint: '/ticket invalid_type' })
  })

  test('what a route throws never ends in a crash nor in a log', () => {
    const broken = () => {
      throw new TypeError('cannot read customer@example.com')
    }
    for (const changes of [{ actions: broken }, { references: broken }, { parse: broken }]) {
      const result = plan(source({ routes: new Map([['ticket.updated', route(changes)]]) }), push(TICKET))
      expect(result).toMatchObject({ kind: 'malformed', cause: 'route_failed' })
      expect(JSON.stringify(result)).not.toContain('example.com')
    }
  })

  test('what a route throws on a payload that its schema accepts is our own fault: 503, and the sender keeps it', () => {
    const broken = () => {
      throw new TypeError('cannot read customer@example.com')
    }
    const parse = (value: unknown) => ({ ok: true as const, value })
    for (const changes of [{ actions: broken }, { references: broken }]) {
      const result = plan(source({ routes: new Map([['ticket.updated', route({ parse, ...changes })]]) }), push(TICKET))
      expect(result).toEqual({
        kind: 'misconfigured',
        hint: "the route's own code threw TypeError on a payload that its schema accepts",
      })
    }
  })

  test.each([[''], ['a'.repeat(256)], ['a\0'], [42], [undefined]])('subject %j: malformed', (subject) => {
    const transition = {
      use: { kind: 'custom' as const, name: 'expire', apply: async () => ({ outcome: 'applied' as const }) },
      subject: () => subject as string,
      guard: null,
      notDue: 'discard' as const,
    }
    const contract = source({ routes: new Map([['ticket.updated', route({ transition })]]) })
    expect(plan(contract, push(TICKET))).toMatchObject({ kind: 'malformed', cause: 'route_failed' })
  })

  test('our own configuration at fault: not the sender’s 400, and never quarantined', () => {
    const actions = () => {
      throw new ConfigurationBug('no such destination')
    }
    const contract = source({ ...quarantining, routes: new Map([['ticket.updated', route({ actions })]]) })
    expect(plan(contract, push(TICKET))).toEqual({ kind: 'misconfigured', hint: 'no such destination' })
    const two = () => [draft(), draft({ body: { other: true } })]
    const torn = source({ routes: new Map([['ticket.updated', route({ actions: two })]]) })
    expect(plan(torn, push(TICKET))).toMatchObject({ kind: 'misconfigured' })
  })
})

describe('maximum age', () => {
  const aged = source({ maxAge: { pointer: '/sentAt', ms: 60_000 } })
  const sent = (sentAt: unknown) => plan(aged, push(JSON.stringify({ type: 'ticket.updated', sentAt })))

  test('the limit itself is young enough, in every spelling of an instant', () => {
    for (const at of ['2025-12-31T23:59:00Z', '2026-01-01T00:59:00+01:00', NOW - 60_000, (NOW - 60_000) / 1000]) {
      expect(sent(at).kind).toBe('planned')
    }
  })

  test('older is stale', () => {
    expect(sent('2025-12-31T23:58:59.999Z')).toMatchObject({ kind: 'stale', cause: 'delivery_too_old' })
  })

  test.each([[undefined], [null], ['yesterday'], ['2025-12-31T23:59:00'], [{}], [''], ['2025-13-45T99:00:00Z']])(
    '%j is no instant: malformed',
    (at) => {
      expect(sent(at)).toMatchObject({ kind: 'malformed', cause: 'age_field_invalid' })
    },
  )
})

describe('references', () => {
  const referencesOf = (...values: readonly unknown[]) => {
    const references = () => values.map((value) => ({ name: 'n', value: value as string, personal: false }))
    const contract = source({ routes: new Map([['ticket.updated', route({ references })]]) })
    return delivery(plan(contract, push(TICKET))).references.map(({ value }) => value)
  }

  test('are text of at most 255 bytes, each once; blank ones are dropped', () => {
    expect(referencesOf('a', 'a', ' a ', 42, true, 7n, null, undefined, {}, '', '  ')).toEqual(['a', '42', 'true', '7'])
    expect(referencesOf('é'.repeat(200))).toEqual(['é'.repeat(127)])
  })

  test('NUL and lone surrogates become U+FFFD', () => {
    expect(referencesOf('a\0b', 'c\ud800d')).toEqual(['a\ufffdb', 'c\ufffdd'])
  })

  test('what is personal once stays personal', () => {
    const references = () => [
      { name: 'n', value: 'a', personal: false },
      { name: 'n', value: 'a', personal: true },
    ]
    const contract = source({ routes: new Map([['ticket.updated', route({ references })]]) })
    expect(delivery(plan(contract, push(TICKET))).references).toEqual([{ name: 'n', value: 'a', personal: true }])
  })

  test('exactText keeps the digits that the parser rounds (case B042: numbers that change on the way)', () => {
    const references = (event: { exactText: (pointer: string) => string | null }) => [
      { name: 'n', value: event.exactText('/p_id') ?? '', personal: false },
    ]
    const contract = source({ routes: new Map([['ticket.updated', route({ references })]]) })
    const body = '{"type":"ticket.updated","p_id":7615917337495251231}'
    expect(delivery(plan(contract, push(body))).references[0]?.value).toBe('7615917337495251231')
  })
})

describe('properties', () => {
  test('whatever the bytes and headers, planning answers without a throw', () => {
    const contracts = [
      source({ otherwise: route({ actions: ({ payload }) => [draft({ body: { payload } })] }) }),
      source({ ...quarantining, deliveryId: { kind: 'pointer', pointer: '/id' }, volatilePointers: ['/id', '/a/b'] }),
    ]
    const json = fc.jsonValue().map((value) => Buffer.from(JSON.stringify(value)))
    const bytes = fc.oneof(
      json,
      fc.uint8Array({ maxLength: 80 }).map((array) => Buffer.from(array)),
    )
    fc.assert(
      fc.property(bytes, fc.string({ unit: 'binary' }), (body, id) => {
        for (const contract of contracts) {
          expect(['planned', 'malformed']).toContain(plan(contract, push(body, { 'x-delivery-id': id })).kind)
        }
      }),
    )
  })
})
