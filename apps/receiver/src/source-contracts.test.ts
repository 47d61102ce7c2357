import {
  type AnswerOverrides,
  type Handshake,
  type SourceContract,
  splitJsonList,
  type Verify,
} from '@counterfoil/core'
import { rawHttp, until } from '@counterfoil/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import {
  type HarnessOptions,
  makeSource,
  type PushHarness,
  signedRequest,
  startPushHarness,
} from './testing/push-harness.js'

let harness: PushHarness

const start = async (
  changes: Partial<SourceContract>,
  ack: Partial<SourceContract['ack']> = {},
  options: HarnessOptions = {},
) => {
  harness = await startPushHarness({ sources: [makeSource(changes, ack)], ...options })
}
const push = (body = '{"n":1}', options: Parameters<typeof signedRequest>[1] = {}, extra = '') =>
  rawHttp(harness.port, signedRequest(body, options, extra))
const line = () => until(() => harness.lines().find(({ msg }) => msg === 'push.received'))

afterEach(() => harness.close())

describe('a verifier', () => {
  const verified: Verify = () => ({ kind: 'verified', keyId: 'kid-1', bodyBound: false, signedAt: null })

  it('may take its time', async () => {
    await start({ verify: async (...args) => verified(...args) })
    expect(await push()).toMatchObject({ status: 204 })
    expect(harness.store.claims[0]?.deliveries[0]).toMatchObject({ keyId: 'kid-1' })
  })

  it('that can not judge now is answered 503 and not 401, and the line says whose fault it is', async () => {
    await start({
      verify: async () => ({ kind: 'unavailable', cause: 'key_material_unavailable', hint: 'the keys: timeout' }),
    })
    const answer = await push()
    expect(answer.status).toBe(503)
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await line()).toMatchObject({ level: 50, outcome: 'retryable_failure', cause: 'key_material_unavailable' })
    expect(harness.store.claims).toEqual([])
  })

  it('that fails, at once or later, is our own fault: 503', async () => {
    await start({ verify: () => Promise.reject(new Error('boom')) })
    expect(await push()).toMatchObject({ status: 503 })
  })

  it('gets the key material, and the configured URL with the query that came (case B022: address behind a proxy, body hash and next key)', async () => {
    const seen: unknown[] = []
    const verify: Verify = (request, _keys, _now, material) => {
      seen.push(request.publicUrl, request.query, material.keySet('https://a.test', 'k'))
      return { kind: 'refused', cause: 'token_mismatch', hint: '' }
    }
    await start({ verify, publicUrl: 'https://hooks.example.test/in?old=1' })
    await push('{}', { path: '/hooks/tickets?x=1&y=%2F' }, 'X-Forwarded-Host: evil.test\r\n')
    expect(seen).toEqual([
      'https://hooks.example.test/in?x=1&y=%2F',
      '?x=1&y=%2F',
      { kind: 'missing', cause: 'nothing_fetched_here' },
    ])
  })
})

describe('a handshake', () => {
  const challenge: Handshake = {
    when: 'after_verification',
    methods: ['POST'],
    answer: ({ document }) => {
      const { type, challenge: text } = (document ?? {}) as { type?: unknown; challenge?: unknown }
      if (type !== 'url_verification') return null
      const name = 'url_verification'
      return typeof text === 'string' && text.length <= 1000
        ? { name, status: 200, headers: { 'content-type': 'text/plain' }, body: text }
        : { name, status: 400, headers: {}, body: null }
    },
  }
  const evil = '<script>alert(1)</script>'
  const asking = (text: unknown) => JSON.stringify({ type: 'url_verification', challenge: text })

  it('that is signed is answered word for word as plain text, and never stored (case B023: echo of a handshake)', async () => {
    await start({ handshakes: [challenge] })
    const answer = await push(asking(evil))
    expect(answer).toMatchObject({ status: 200, body: evil })
    expect(answer.headers.get('content-type')).toBe('text/plain')
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    expect(harness.store.claims).toEqual([])
    expect(await line()).toMatchObject({
      level: 30,
      outcome: 'handshake',
      handshake: 'url_verification',
      keyId: 'key-2026',
    })
    expect(harness.logText()).not.toContain('alert')
  })

  it('that is not signed is refused, and one that asks nonsense is told so (case B023: echo of a handshake)', async () => {
    await start({ handshakes: [challenge] })
    const unsigned = signedRequest(asking(evil))
      .toString()
      .replace(/X-Signature: .{8}/, 'X-Signature: 00000000')
    expect(await rawHttp(harness.port, Buffer.from(unsigned))).toMatchObject({ status: 401 })
    for (const text of [{ a: 1 }, ['a'], 'x'.repeat(100_000)]) {
      expect(await push(asking(text))).toMatchObject({ status: 400, body: '' })
    }
    expect(harness.store.claims).toEqual([])
  })

  it('by another method is answered by its headers alone', async () => {
    const consent: Handshake = {
      when: 'before_verification',
      methods: ['OPTIONS'],
      answer: ({ request }) =>
        request.headers.get('webhook-request-origin')?.[0] === 'eventgrid.azure.net'
          ? { name: 'consent', status: 200, headers: { 'webhook-allowed-origin': 'eventgrid.azure.net' }, body: null }
          : null,
    }
    await start({ handshakes: [consent] })
    const options = (origin: string) =>
      rawHttp(
        harness.port,
        Buffer.from(
          `OPTIONS /hooks/tickets HTTP/1.1\r\nHost: x\r\nConnection: close\r\nWebHook-Request-Origin: ${origin}\r\n\r\n`,
        ),
      )
    const yes = await options('eventgrid.azure.net')
    expect([yes.status, yes.headers.get('webhook-allowed-origin'), yes.body]).toEqual([200, 'eventgrid.azure.net', ''])
    const no = await options('evil.test')
    expect([no.status, no.headers.get('allow'), no.headers.get('webhook-allowed-origin')]).toEqual([
      405,
      'POST, OPTIONS',
      undefined,
    ])
  })

  describe('that wants a visit', () => {
    const confirmation: Handshake = {
      when: 'after_verification',
      methods: ['POST'],
      answer: () => ({
        name: 'confirm',
        status: 200,
        headers: {},
        body: null,
        confirm: { url: 'https://a.test/?Token=t' },
      }),
    }

    it('is answered when the visit was made', async () => {
      const visited: string[] = []
      const confirm = async (url: string) => {
        visited.push(url)
        return null
      }
      await start({ handshakes: [confirmation] }, {}, { confirm })
      expect(await push()).toMatchObject({ status: 200 })
      expect(visited).toEqual(['https://a.test/?Token=t'])
    })

    it('is answered 503 when it could not be made, and the token stays out of the log', async () => {
      await start({ handshakes: [confirmation] }, {}, { confirm: async () => 'timeout' })
      expect(await push()).toMatchObject({ status: 503 })
      expect(await line()).toMatchObject({ outcome: 'retryable_failure', cause: 'unconfirmed: timeout' })
      expect(harness.logText()).not.toContain('Token')
    })
  })
})

describe('what a sender wants to hear', () => {
  const stop = { 'upstash-nonretryable-error': 'true' }
  const answers: AnswerOverrides = {
    unverified: { status: 403 },
    stale: { status: 422 },
    malformed: { status: 489, headers: stop },
    conflict: { status: 489, headers: stop },
    tooLarge: { status: 489, headers: stop },
    encoded: { status: 400 },
    unavailable: { headers: { 'x-sender': 'again' } },
  }

  it('is said instead of our own words, with its stop signals', async () => {
    await start({ answers, bodyLimitBytes: 100 }, { onConflict: 'refuse_409' })
    const statusOf = async (...args: Parameters<typeof push>) => {
      const { status, headers } = await push(...args)
      return [status, headers.get('upstash-nonretryable-error') ?? null]
    }
    expect(await statusOf('{}', { at: Date.now() - 600_000 })).toEqual([422, null])
    expect(await statusOf('no JSON')).toEqual([489, 'true'])
    expect(await statusOf('x'.repeat(101))).toEqual([489, 'true'])
    expect(await statusOf('{}', {}, 'Content-Encoding: gzip\r\n')).toEqual([400, null])
    expect(await statusOf('{"n":1}')).toEqual([204, null])
    expect(await statusOf('{"n":2}')).toEqual([489, 'true'])
    const forged = signedRequest('{}')
      .toString()
      .replace(/X-Signature: .{8}/, 'X-Signature: 00000000')
    expect(await rawHttp(harness.port, Buffer.from(forged))).toMatchObject({ status: 403 })
  })

  it('rides on a 503, which stays a 503', async () => {
    await start({ answers })
    harness.store.script(() => ({ kind: 'unavailable', cause: 'read_only' }))
    const answer = await push()
    expect([answer.status, answer.headers.get('x-sender')]).toEqual([503, 'again'])
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  })

  it('may be words of its own', async () => {
    await start({}, { status: 200, fixedBody: { contentType: 'text/xml', text: '<Response/>' } })
    const answer = await push()
    expect(answer).toMatchObject({ status: 200, body: '<Response/>' })
    expect(answer.headers.get('content-type')).toBe('text/xml')
  })
})

describe('a batched push', () => {
  const batched = { split: splitJsonList('is_one'), deliveryId: { kind: 'pointer', pointer: '/id' } } as const

  it('is claimed as one, with an ack on record for each delivery', async () => {
    await start(batched)
    expect(await push('[{"id":"a"},{"id":"b"}]')).toMatchObject({ status: 204 })
    expect(harness.store.claims.map(({ deliveries }) => deliveries.map(({ deliveryId }) => deliveryId))).toEqual([
      ['a', 'b'],
    ])
    await until(() => harness.store.acks.length === 2 || undefined)
    expect(await line()).toMatchObject({ deliveries: 2, deliveryId: 'a' })
  })

  it('is refused whole', async () => {
    await start(batched)
    expect(await push('[{"id":"a"},{}]')).toMatchObject({ status: 400 })
    expect(harness.store.claims).toEqual([])
  })
})
