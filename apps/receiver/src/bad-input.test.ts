import { gzipSync } from 'node:zlib'
import { type RawAnswer, rawHttp, until } from '@counterfoil/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  makeSource,
  type PushHarness,
  SECRET,
  signedHeaders,
  signedRequest,
  startPushHarness,
} from './testing/push-harness.js'

const LIMIT = 256 * 1024
const BODY = '{"ticket":"4821","note":"a private remark"}'
const FORM = {
  pointer: makeSource({ name: 'jobs', path: '/hooks/jobs', deliveryId: { kind: 'pointer', pointer: '/jobId' } }),
}

let harness: PushHarness

beforeAll(async () => {
  harness = await startPushHarness({ sources: [makeSource({ bodyLimitBytes: LIMIT }), FORM.pointer] })
})
afterAll(() => harness.close())

const head = (lines: string, requestLine = 'POST /hooks/tickets HTTP/1.1') => `${requestLine}\r\n${lines}\r\n`
const close = 'Connection: close\r\n'
const length = (body: string | Buffer) => `Content-Length: ${Buffer.byteLength(body)}\r\n`

/** Signed headers without the lines whose names are given, plus others. */
function without(names: readonly string[], more = ''): string {
  const lines = signedHeaders(BODY)
    .split('\r\n')
    .filter((line) => line !== '' && !names.some((name) => line.toLowerCase().startsWith(`${name}:`)))
  return head(`${lines.join('\r\n')}\r\n${more}${length(BODY)}${close}`) + BODY
}

const signature = (value: string) => without(['x-signature'], `X-Signature: ${value}\r\n`)
const timestamp = (value: string) => without(['x-timestamp'], `X-Timestamp: ${value}\r\n`)
const signed = (body: string | Buffer, extra = '', id?: string) =>
  signedRequest(body, id === undefined ? {} : { id }, extra)
const toJobs = (body: string | Buffer) => signedRequest(body, { id: '', path: '/hooks/jobs' })

type Case = readonly [what: string, request: string | Buffer | readonly (string | Buffer)[], status: number]

const CASES: readonly Case[] = [
  ['an unknown source', signedRequest(BODY, { path: '/hooks/none' }), 404],
  ['the path "/constructor"', signedRequest(BODY, { path: '/constructor' }), 404],
  ['the path "/__proto__"', signedRequest(BODY, { path: '/__proto__' }), 404],
  ['a trailing slash (case B024: probes and unknown methods)', signedRequest(BODY, { path: '/hooks/tickets/' }), 404],
  ['a double slash (case B024: probes and unknown methods)', signedRequest(BODY, { path: '//hooks/tickets' }), 404],
  ['an upper-case path (case B024: probes and unknown methods)', signedRequest(BODY, { path: '/HOOKS/tickets' }), 404],
  ['an encoded slash (case B024: probes and unknown methods)', signedRequest(BODY, { path: '/hooks%2Ftickets' }), 404],
  ['an absolute request target', signedRequest(BODY, { path: 'http://x/hooks/tickets' }), 404],
  ...['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'TRACE', 'PATCH'].map(
    (method): Case => [`the method ${method}`, head(`Host: x\r\n${close}`, `${method} /hooks/tickets HTTP/1.1`), 405],
  ),
  ['an unknown method', head(`Host: x\r\n${close}`, 'FETCH /hooks/tickets HTTP/1.1'), 400],
  ['no Host header', head(close), 400],
  ['no signature (case B012: malformed signature that crashes the comparison)', without(['x-signature']), 401],
  ['an empty signature (case B012: malformed signature that crashes the comparison)', signature(''), 401],
  ['a repeated signature', without([], `X-Signature: ${'0'.repeat(64)}\r\n`), 401],
  ['a short signature (case B012: malformed signature that crashes the comparison)', signature('ab'), 401],
  ['malformed hex', signature('zz'.repeat(32)), 401],
  [
    'a signature in other letters (case B012: malformed signature that crashes the comparison)',
    signature('é'.repeat(32)),
    401,
  ],
  [
    'a signature of 10 kB (case B012: malformed signature that crashes the comparison)',
    signature('a'.repeat(10_000)),
    401,
  ],
  [
    'a foreign prefix (case B012: malformed signature that crashes the comparison)',
    signature(`sha1=${'0'.repeat(40)}`),
    401,
  ],
  ['the signature of another body', `${without([]).slice(0, -1)}]`, 401],
  ['no timestamp', without(['x-timestamp']), 401],
  ['a repeated timestamp', without([], 'X-Timestamp: 1\r\n'), 401],
  ['a timestamp that is no number', timestamp('NaN'), 401],
  ['a timestamp of 10 kB', timestamp('1'.repeat(10_000)), 401],
  ['a stale timestamp', signedRequest(BODY, { at: Date.now() - 400_000 }), 401],
  ['a timestamp in the future', signedRequest(BODY, { at: Date.now() + 400_000 }), 401],
  ['no delivery id (case B029: missing delivery id)', without(['x-delivery-id']), 400],
  ['a repeated delivery id', without([], 'X-Delivery-Id: d-2\r\n'), 400],
  ['an id of 10 kB (case B030: long and odd delivery ids)', signed(BODY, '', 'd'.repeat(10_000)), 400],
  [
    'headers over 16 kB (case B030: long and odd delivery ids)',
    signed(BODY, `X-Large: ${'x'.repeat(17_000)}\r\n`),
    431,
  ],
  ['a body that is not JSON', signed('a=1&b=2'), 400],
  ['an empty body where the id is in the body', toJobs(''), 400],
  ['invalid UTF-8', signed(Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d])), 400],
  ['100,000 nested arrays', toJobs('['.repeat(100_000) + ']'.repeat(100_000)), 400],
  ['a NUL in the id (case B030: long and odd delivery ids)', toJobs('{"jobId":"a\\u0000b"}'), 400],
  ['a lone surrogate in the id (case B030: long and odd delivery ids)', toJobs('{"jobId":"\\ud800"}'), 400],
  ['an id in __proto__ (case B044: names of a prototype from the wire)', toJobs('{"__proto__":{"jobId":"j-1"}}'), 400],
  [
    'an id of 10 kB in the body (case B030: long and odd delivery ids)',
    toJobs(JSON.stringify({ jobId: 'j'.repeat(10_000) })),
    400,
  ],
  ['an id that is an object', toJobs('{"jobId":{"a":1}}'), 400],
  [
    'gzip (case B008: compressed body, and which bytes were signed)',
    signed(gzipSync(BODY), 'Content-Encoding: gzip\r\n'),
    415,
  ],
  [
    'GZIP around a plain body (case B008: compressed body, and which bytes were signed)',
    signed(BODY, 'Content-Encoding: GZIP\r\n'),
    415,
  ],
  ['zstd (case B008: compressed body, and which bytes were signed)', signed(BODY, 'Content-Encoding: zstd\r\n'), 415],
  [
    'a charset as encoding (case B008: compressed body, and which bytes were signed)',
    signed(BODY, 'Content-Encoding: utf-8\r\n'),
    415,
  ],
  [
    'one byte over the limit (case B050: body over the limit, lying lengths)',
    signed(`"${'x'.repeat(LIMIT - 1)}"`),
    413,
  ],
  ['a Content-Length that is no number', head(`${signedHeaders(BODY)}Content-Length: ten\r\n`) + BODY, 400],
  ['a negative Content-Length', head(`${signedHeaders(BODY)}Content-Length: -1\r\n`) + BODY, 400],
  [
    'two Content-Lengths (case B050: body over the limit, lying lengths)',
    head(`${signedHeaders(BODY)}${length(BODY)}Content-Length: 1\r\n`) + BODY,
    400,
  ],
  [
    'Content-Length and chunks at once (case B050: body over the limit, lying lengths)',
    head(`${signedHeaders(BODY)}${length(BODY)}Transfer-Encoding: chunked\r\n`) + BODY,
    400,
  ],
  ['malformed chunks', `${head(`${signedHeaders(BODY)}Transfer-Encoding: chunked\r\n`)}zz\r\nhello\r\n`, 400],
  ['no HTTP at all', '\x16\x03\x01\x02\x00hello\r\n\r\n', 400],
  [
    'an unknown expectation (case B051: sender that waits for 100 Continue)',
    head(`${signedHeaders(BODY)}${length(BODY)}Expect: magic\r\n`),
    417,
  ],
]

/** What a stranger may see of us: a status, its title, and what HTTP needs. */
function expectTellsNothing(answer: RawAnswer): void {
  const text = answer.raw.toString('latin1')
  for (const secret of [
    SECRET,
    'private remark',
    'd-1',
    'Error',
    'at ',
    'node:',
    'tickets',
    'timestamp',
    'signature',
  ]) {
    expect(text).not.toContain(secret)
  }
  // Node itself answers a request without Host, with an empty chunked body.
  if (answer.body === '' || answer.body === '0\r\n\r\n') return
  expect(answer.headers.get('content-type')).toBe('application/problem+json')
  expect(Object.keys(JSON.parse(answer.body) as object)).toEqual(['type', 'title', 'status'])
}

describe('bad input gets its documented answer, reaches no claim, fails no neighbour and leaks nothing (I10, I11)', () => {
  it.each(CASES)('%s', async (_what, request, status) => {
    const claims = harness.store.claims.length
    const logged = harness.logText().length
    const [answer, neighbour] = await Promise.all([
      rawHttp(harness.port, request),
      rawHttp(harness.port, signedRequest('{"neighbour":true}', { id: 'neighbour' })),
    ])

    expect(answer.status).toBe(status)
    expect(answer.end).toBe('closed')
    expectTellsNothing(answer)
    expect(neighbour.status).toBe(204)
    const claimed = harness.store.claims.slice(claims).flatMap((push) => push.deliveries.map((d) => d.deliveryId))
    expect(claimed).toEqual(['neighbour'])
    await until(() => harness.budget.depth().pushes === 0)
    expect(harness.budget.depth().bytes).toBe(0)
    const lines = harness.logText().slice(logged)
    for (const secret of [SECRET, 'private remark', 'ann@example.org', 'zzzz', 'aaaaaaaaaa']) {
      expect(lines).not.toContain(secret)
    }
    expect(Math.max(...lines.split('\n').map((line) => line.length))).toBeLessThan(1500)
  })

  it('20 gzip bombs at once are refused unopened, beside a push that is served (case B009: compressed bomb before authentication)', async () => {
    const bomb = signed(gzipSync(Buffer.alloc(64 * 1024 * 1024)), 'Content-Encoding: gzip\r\n')
    const before = process.memoryUsage().rss
    const [neighbour, ...answers] = await Promise.all([
      rawHttp(harness.port, signedRequest('{}', { id: 'beside-bombs' })),
      ...Array.from({ length: 20 }, () => rawHttp(harness.port, bomb)),
    ])
    expect(neighbour?.status).toBe(204)
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(415))
    // One that was opened would alone hold more.
    expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024)
  })

  it('names POST to a wrong method, with no body (case B024: probes and unknown methods)', async () => {
    const answer = await rawHttp(harness.port, head(`Host: x\r\n${close}`, 'GET /hooks/tickets HTTP/1.1'))
    expect(answer.headers.get('allow')).toBe('POST')
    expect(answer.body).toBe('')
  })

  it('judges a push by its Content-Length when more comes, answers it, and closes', async () => {
    const answer = await rawHttp(harness.port, head(`${signedHeaders(BODY)}Content-Length: 5\r\n`) + BODY)
    expect(answer.status).toBe(401)
    expect(answer.end).toBe('closed')
    expect(answer.raw.toString().match(/HTTP\/1\.1/g)).toHaveLength(1)
  })

  it('gives a good push its own answer when rubbish follows on the connection', async () => {
    const good = head(`${signedHeaders(BODY, { id: 'before-rubbish' })}${length(BODY)}`) + BODY
    const answer = await rawHttp(harness.port, `${good}rubbish\r\n\r\n`)
    expect(answer.status).toBe(204)
    expect(answer.end).toBe('closed')
  })
})

describe('odd but good input is taken', () => {
  const accepts = async (request: string | Buffer) => {
    const claims = harness.store.claims.length
    const answer = await rawHttp(harness.port, request)
    expect(answer.status).toBe(204)
    return harness.store.claims[claims]?.deliveries[0]
  }

  it.each([
    ['no Content-Type (case B006: body unread for its content type)', ''],
    ['text/plain (case B006: body unread for its content type)', 'Content-Type: text/plain\r\n'],
    ['an empty Content-Type (case B006: body unread for its content type)', 'Content-Type:\r\n'],
    ['cloud events (case B006: body unread for its content type)', 'Content-Type: application/cloudevents+json\r\n'],
    ['a strange charset', 'Content-Type: application/json; charset=X-WINDOWS-949\r\n'],
    ['Content-Encoding: identity', 'Content-Encoding: Identity\r\n'],
  ])('%s', async (_what, header) => {
    const claimed = await accepts(signedRequest(BODY, { id: 'odd' }, header))
    expect(claimed?.body.toString()).toBe(BODY)
  })

  it('a query after the path', async () => {
    await accepts(signedRequest(BODY, { id: 'query', path: '/hooks/tickets?attempt=2' }))
  })

  it('a BOM, which is signed and kept (case B010: byte order mark)', async () => {
    const body = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from('{"a":1}')])
    expect((await accepts(signedRequest(body, { id: 'bom' })))?.body.equals(body)).toBe(true)
  })

  it('__proto__, NUL and lone surrogates in a payload, byte for byte (case B040: NUL in JSON)', async () => {
    const body = '{"__proto__":{"admin":true},"a":"\\u0000","b":"\\ud800","constructor":1}'
    expect((await accepts(signedRequest(body, { id: 'proto' })))?.body.toString()).toBe(body)
    expect(({} as Record<string, unknown>).admin).toBeUndefined()
  })

  it('exactly the limit (case B050: body over the limit, lying lengths)', async () => {
    expect((await accepts(signedRequest(`"${'x'.repeat(LIMIT - 2)}"`, { id: 'limit' })))?.body.length).toBe(LIMIT)
  })

  it('an empty body is verified as the empty body (case B006: body unread for its content type)', async () => {
    const neither = head(`${signedHeaders('', { id: 'empty' })}${close}`)
    const zero = head(`${signedHeaders('', { id: 'empty' })}Content-Length: 0\r\n${close}`)
    const answers = [await rawHttp(harness.port, neither), await rawHttp(harness.port, zero)]
    expect(answers.map(({ status }) => status)).toEqual([204, 204])
    expect(harness.store.claims.at(-1)?.deliveries[0]?.body.length).toBe(0)
  })

  it('one-byte chunks, cut inside a character (case B002: character cut by packets)', async () => {
    const body = Buffer.from('{"title":"mânecă 😀"}')
    const chunks = [...body].map((byte) =>
      Buffer.concat([Buffer.from('1\r\n'), Buffer.from([byte]), Buffer.from('\r\n')]),
    )
    const request = Buffer.concat([
      Buffer.from(head(`${signedHeaders(body, { id: 'chunks' })}Transfer-Encoding: chunked\r\n${close}`)),
      ...chunks,
      Buffer.from('0\r\n\r\n'),
    ])
    expect((await accepts(request))?.body.equals(body)).toBe(true)
  })

  it('every cut between two packets of a body with characters of several bytes (case B002: character cut by packets)', async () => {
    const body = Buffer.from('{"t":"ă 😀"}')
    const request = signedRequest(body, { id: 'cuts' })
    const start = request.length - body.length
    for (let cut = 1; cut < body.length; cut += 1) {
      const pieces = [request.subarray(0, start + cut), request.subarray(start + cut)]
      expect((await rawHttp(harness.port, pieces, { pauseMs: 5 })).status).toBe(204)
    }
  })
})
