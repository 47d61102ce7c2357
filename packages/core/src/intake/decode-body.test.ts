import { describe, expect, test } from 'vitest'
import { type Decode, decodeBody } from './decode-body.js'

const FORM = 'application/x-www-form-urlencoded'
const decode = (how: Decode, contentType: string | null, body: string | Buffer) =>
  decodeBody(how, contentType, Buffer.from(body))

describe('forms', () => {
  const slack: Decode = { whenForm: 'form_payload', otherwise: 'json' }

  test('every escape means what it means in a form (case B004: form re-encoded before it is verified)', () => {
    const body = 'command=%2Fhold&text=a+b%2Ac*~%20d&payload=%7B%22k%22%3A%22%F0%9F%98%80%22%7D'
    for (const contentType of [FORM, `${FORM}; charset=utf-8`, FORM.toUpperCase()]) {
      expect(decode(slack, contentType, body)).toMatchObject({
        document: { command: '/hold', text: 'a b*c*~ d', payload: '{"k":"😀"}' },
      })
    }
  })

  test('a lone payload is the JSON in it, with its bytes (case B005: form around JSON dropped in silence)', () => {
    const body = 'payload=%7B%22action%22%3A%22opened%22%2C%22n%22%3A7615917337495251231%7D'
    const decoded = decode(slack, FORM, body)
    expect(decoded).toMatchObject({ kind: 'decoded', payload: { action: 'opened' } })
    expect(decoded.kind === 'decoded' && decoded.payloadJson?.toString()).toContain('7615917337495251231')
    expect(decode(slack, FORM, 'payload=%7B')).toMatchObject({ kind: 'malformed', cause: 'body_not_json' })
  })

  test('another content type, or none, is JSON', () => {
    expect(decode(slack, 'application/json; charset=UTF8', '{"a":1}')).toMatchObject({ document: { a: 1 } })
    expect(decode(slack, null, '{"a":1}')).toMatchObject({ document: { a: 1 } })
    expect(decode(slack, `${FORM}x`, '{"a":1}')).toMatchObject({ document: { a: 1 } })
  })

  test('a BOM belongs to no name, a repeated name is a list, and no name reaches a prototype (case B010: byte order mark)', () => {
    expect(decode('form', null, '\ufeffa=1')).toMatchObject({ document: { a: '1' } })
    expect(decode('form', null, 'a=1&a=2')).toMatchObject({ document: { a: ['1', '2'] } })
    const decoded = decode('form', null, '__proto__=x&constructor=y')
    expect(decoded.kind === 'decoded' && Object.getPrototypeOf(decoded.document)).toBe(null)
    expect(decoded.kind === 'decoded' && decoded.form?.get('__proto__')).toEqual(['x'])
  })

  test('bytes that are no UTF-8, and a flood of fields, are malformed', () => {
    expect(decode('form', null, Buffer.from([0x61, 0x3d, 0xff]))).toMatchObject({ cause: 'body_not_utf8' })
    expect(decode('form', null, 'a=1&'.repeat(1001))).toMatchObject({ cause: 'body_not_form' })
  })
})

describe('envelopes', () => {
  const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64')
  const pubsub = (data: unknown) =>
    decode('pubsub_wrapped', null, JSON.stringify({ message: { data, messageId: '1' } }))

  test.each([
    [base64('{"a":1}'), { a: 1 }],
    [base64('Hello'), 'Hello'],
    [base64(Buffer.from([0xff])), null],
    ['', null],
    ['not base64', null],
    [undefined, null],
    [7, null],
  ])('pub/sub data %j: payload %j, and pointers look into the envelope', (data, payload) => {
    expect(pubsub(data)).toMatchObject({ payload, document: { message: { messageId: '1' } } })
  })

  test('sns: the message is JSON where it is JSON, else a text', () => {
    expect(decode('sns_wrapped', 'text/plain', '{"Message":"{\\"a\\":1}"}')).toMatchObject({ payload: { a: 1 } })
    expect(decode('sns_wrapped', 'text/plain', '{"Message":"Hello world!"}')).toMatchObject({ payload: 'Hello world!' })
  })

  test('cloud events: structured around data, binary as it is', () => {
    const structured = 'application/cloudevents+json; charset=utf-8'
    const event = '{"id":"1","data":{"n":7615917337495251231}}'
    const decoded = decode('cloud_event', structured, event)
    expect(decoded).toMatchObject({ document: { id: '1' }, payload: { n: expect.any(Number) } })
    expect(decoded.kind === 'decoded' && decoded.payloadJson?.toString()).toBe('{"n":7615917337495251231}')
    expect(decode('cloud_event', structured, `{"data_base64":"${base64('{"a":1}')}"}`)).toMatchObject({
      payload: { a: 1 },
    })
    expect(decode('cloud_event', 'application/json', event)).toMatchObject({ payload: { id: '1' } })
  })

  test('an envelope that is no JSON is malformed, one that is no object is itself', () => {
    expect(decode('pubsub_wrapped', null, 'x')).toMatchObject({ kind: 'malformed' })
    expect(decode('pubsub_wrapped', null, '[1]')).toMatchObject({ payload: [1] })
  })
})

test('bytes that are not to be looked into never make a push malformed', () => {
  expect(decode('none', null, Buffer.from([0xff, 0xfe]))).toMatchObject({ kind: 'decoded', payload: undefined })
})
