import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { makeEntry } from '../testing/make-entry.js'
import { signRequest } from './sign-request.js'

const NOW = Date.UTC(2026, 0, 1) + 999
const SECONDS = String(Date.UTC(2026, 0, 1) / 1_000)
const entry = makeEntry({ idempotencyKey: 'order:7', body: Buffer.from([0, 255, 123]) })
const secret = (text: string) => () => Buffer.from(text)

describe('credentials of a request', () => {
  test('are a bearer token or a user and a password', () => {
    expect(signRequest({ kind: 'bearer', token: secret('t') }, entry, NOW)).toEqual(['authorization', 'Bearer t'])
    const basic = signRequest({ kind: 'basic', user: 'ana', password: secret('pä:ss') }, entry, NOW)
    expect(basic).toEqual(['authorization', `Basic ${Buffer.from('ana:pä:ss').toString('base64')}`])
  })

  test('are an HMAC over the very bytes, with or without a time', () => {
    const hmac = {
      kind: 'hmac',
      algorithm: 'sha256',
      header: 'x-signature',
      prefix: 'sha256=',
      encoding: 'hex',
      timestampHeader: null,
      key: secret('k'),
    } as const
    const over = (...parts: (string | Buffer)[]) =>
      parts.reduce((made, part) => made.update(part), createHmac('sha256', 'k')).digest('hex')
    expect(signRequest(hmac, entry, NOW)).toEqual(['x-signature', `sha256=${over(entry.body)}`])
    expect(signRequest({ ...hmac, timestampHeader: 'x-time' }, entry, NOW)).toEqual([
      'x-time',
      SECONDS,
      'x-signature',
      `sha256=${over(`${SECONDS}.`, entry.body)}`,
    ])
  })

  test('are Standard Webhooks under the idempotency key, signed by each secret', () => {
    const auth = { kind: 'standard_webhooks', keys: [secret('a'), secret('b')] } as const
    const by = (key: string) =>
      createHmac('sha256', key).update(`order:7.${SECONDS}.`).update(entry.body).digest('base64')
    expect(signRequest(auth, entry, NOW)).toEqual([
      'webhook-id',
      'order:7',
      'webhook-timestamp',
      SECONDS,
      'webhook-signature',
      `v1,${by('a')} v1,${by('b')}`,
    ])
  })

  test('are read at each request, so that a rotated secret counts from the next one', () => {
    let token = 'old'
    const auth = { kind: 'bearer', token: () => Buffer.from(token) } as const
    signRequest(auth, entry, NOW)
    token = 'new'
    expect(signRequest(auth, entry, NOW)).toEqual(['authorization', 'Bearer new'])
  })
})
