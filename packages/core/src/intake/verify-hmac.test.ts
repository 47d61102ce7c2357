import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createHmacBody, createHmacTimestamped } from './plain-hmac.js'
import type { PushRequest, SigningKey } from './push-request.js'
import { arriving, request } from './testing/requests.js'

type Vector = {
  readonly title: string
  readonly secrets: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  readonly body: { readonly utf8: string } | { readonly base64: string }
  readonly nowSeconds?: number
  readonly options?: { readonly prefix: string }
  readonly expect: { readonly verifiedBy: number } | { readonly refused: string }
}

const NOW_S = 1_767_225_600
const NOW = NOW_S * 1000
const KEY: SigningKey = { id: 'k1', secret: Buffer.from('test-secret-1') }
const timestamped = createHmacTimestamped({ signatureHeader: 'X-Signature', timestampHeader: 'X-Timestamp' }).verify
const overBody = createHmacBody({ signatureHeader: 'x-hub-signature-256', prefix: 'sha256=' }).verify

function readVectors(name: string): readonly Vector[] {
  return JSON.parse(readFileSync(new URL(`./vectors/${name}.json`, import.meta.url), 'utf8')).vectors
}

function sign(body: Buffer, timestamp: string | null, secret = KEY.secret): Buffer {
  const mac = createHmac('sha256', secret)
  if (timestamp !== null) mac.update(`${timestamp}.`)
  return mac.update(body).digest()
}

function signed(body: Buffer, timestamp: string): PushRequest {
  return request({ 'x-signature': sign(body, timestamp).toString('hex'), 'x-timestamp': timestamp }, body)
}

describe('vectors', () => {
  test.each([
    ...readVectors('hmac-timestamped').map((vector) => ['timestamped', vector] as const),
    ...readVectors('hmac-body').map((vector) => ['body', vector] as const),
  ])('%s: $title', (scheme, vector) => {
    const verify =
      scheme === 'body'
        ? overBody
        : createHmacTimestamped({
            signatureHeader: 'x-webhook-signature',
            timestampHeader: 'x-webhook-timestamp',
            ...vector.options,
          }).verify
    const body = 'utf8' in vector.body ? Buffer.from(vector.body.utf8) : Buffer.from(vector.body.base64, 'base64')
    const keys = vector.secrets.map((secret, index) => ({ id: `key-${index}`, secret: Buffer.from(secret) }))
    const verdict = verify(request(vector.headers, body), keys, (vector.nowSeconds ?? NOW_S) * 1000)
    if ('refused' in vector.expect) expect(verdict).toMatchObject({ kind: 'refused', cause: vector.expect.refused })
    else expect(verdict).toMatchObject({ kind: 'verified', keyId: `key-${vector.expect.verifiedBy}`, bodyBound: true })
  })
})

describe('signature/body', () => {
  const hub = (hex: string) => ({ 'x-hub-signature-256': `sha256=${hex}` })

  test('re-serialised body: only the bytes on the wire verify, no canonical form does (case B001: body re-serialised before it is verified)', () => {
    const wire = Buffer.from(
      '7b2262223a312c202261223a312e302c2275223a225c7530306539222c2273223a22615c2f62222c22616d70223a225c7530303236222c22626967223a373631353931373333373439353235313233317d0a',
      'hex',
    )
    const headers = hub('dba09db5448dd8de4335301a40198ad9d175dce434cf0c0fe7e6b41ec3ea8da3')
    expect(overBody(request(headers, wire), [KEY], NOW)).toMatchObject({ kind: 'verified', signedAt: null })
    const again = Buffer.from(JSON.stringify(JSON.parse(wire.toString())))
    expect(overBody(request(headers, again), [KEY], NOW)).toMatchObject({ cause: 'signature_mismatch' })
  })

  test('empty body: signed like any other (case B007: empty body that is signed)', () => {
    const headers = hub('1b8b88da911b646e8e40df85073ff0e6e3b3b82d725da699b4480eb2bd466a7b')
    expect(overBody(request(headers, Buffer.alloc(0)), [KEY], NOW).kind).toBe('verified')
  })

  test('form body: the signature is over its bytes (case B005: form around JSON dropped in silence)', () => {
    const headers = hub('88add8d172bb6dd211d67618c3f5b3ad9f831421b78e34e78b3f8063b94935f5')
    const body = Buffer.from('payload=%7B%22action%22%3A%22opened%22%2C%22n%22%3A1%7D')
    expect(overBody(request(headers, body), [KEY], NOW).kind).toBe('verified')
  })

  test('compressed body: what is verified is what was sent, never what it inflates to', () => {
    const wire = Buffer.from('1f8b08000000000002ffab564a54b232ac0500afac1b5607000000', 'hex')
    const overWire = hub('1bc6c38da2cbaecd4d282ff9ed13a62800358e9f40105fc62803f8149497cd9c')
    const overPlain = hub('46396f0c60fa2848b09d8050e6cfa0532da20c1823416d3776ea4e9def867a7e')
    expect(overBody(request(overWire, wire), [KEY], NOW).kind).toBe('verified')
    expect(overBody(request(overPlain, wire), [KEY], NOW)).toMatchObject({ cause: 'signature_mismatch' })
  })

  test('BOM: part of the signed bytes (case B010: byte order mark)', () => {
    const headers = hub('1c64078a44e58026e772ce344c19f551756112b2e027fc104aa5cdab9715d664')
    expect(overBody(request(headers, Buffer.from('efbbbf7b2261223a317d', 'hex')), [KEY], NOW).kind).toBe('verified')
    expect(overBody(request(headers, Buffer.from('{"a":1}')), [KEY], NOW)).toMatchObject({
      cause: 'signature_mismatch',
    })
  })

  test.each(['UTF8', 'utf-16', 'GBK', 'windows-1252', 'X-WINDOWS-949'])(
    'charset %s: without influence (case B011: charset that sways verification)',
    (charset) => {
      const body = Buffer.from('{"a":"é😀"}')
      const headers = {
        ...hub(sign(body, null).toString('hex')),
        'content-type': `application/json; charset=${charset}`,
      }
      expect(overBody(request(headers, body), [KEY], NOW).kind).toBe('verified')
    },
  )

  test.each([
    ['empty', '', 'signature_missing'],
    ['prefix alone', 'sha256=', 'signature_malformed'],
    ['two digits', 'sha256=ab', 'signature_malformed'],
    ['not ASCII', `sha256=${'é'.repeat(64)}`, 'signature_malformed'],
    ['10 kB', 'a'.repeat(10_000), 'signature_malformed'],
    ['sha1', `sha1=${'a'.repeat(40)}`, 'signature_malformed'],
    ['sha512', `sha512=${'a'.repeat(128)}`, 'signature_malformed'],
    ['63 digits', `sha256=${'a'.repeat(63)}`, 'signature_malformed'],
    ['white space inside', `sha256= ${'a'.repeat(63)}`, 'signature_malformed'],
    ['trailing newline', `sha256=${'a'.repeat(64)}\n`, 'signature_malformed'],
    ['prefix in other case', `SHA256=${'a'.repeat(64)}`, 'signature_malformed'],
    ['key and value list', 't=NaN,v1=00', 'signature_malformed'],
  ])(
    'malformed signature header (%s): refused, never thrown (case B012: malformed signature that crashes the comparison)',
    (_name, value, cause) => {
      const verdict = overBody(request({ 'x-hub-signature-256': value }, Buffer.from('{}')), [KEY], NOW)
      expect(verdict).toMatchObject({ kind: 'refused', cause })
    },
  )

  test('repeated header lines: refused, also when all are right', () => {
    const body = Buffer.from('{}')
    const right = signed(body, String(NOW_S))
    const twice = (name: string) => {
      const value = right.headers.get(name)?.[0] ?? ''
      return { ...right, headers: new Map([...right.headers, [name, [value, value]]]) }
    }
    expect(timestamped(twice('x-signature'), [KEY], NOW)).toMatchObject({ cause: 'signature_repeated' })
    expect(timestamped(twice('x-timestamp'), [KEY], NOW)).toMatchObject({ cause: 'timestamp_repeated' })
  })

  test('no hint repeats what was sent', () => {
    const secretish = 'sha256=deadbeef-do-not-log'
    const verdict = overBody(request({ 'x-hub-signature-256': secretish }, Buffer.from('{}')), [KEY], NOW)
    expect(JSON.stringify(verdict)).not.toContain('deadbeef')
  })
})

describe('base64', () => {
  const verify = createHmacBody({ signatureHeader: 'x-signature', encoding: 'base64' }).verify
  const body = Buffer.from('{"title":"mânecă 😀"}')
  const published = 'CZp8LRPlwWrn+YCiPaZ8BDHxhPMmIRwY/M9qEI2XHFI='

  test('the canonical spelling of 32 bytes verifies', () => {
    expect(verify(request({ 'x-signature': published }, body), [KEY], NOW).kind).toBe('verified')
  })

  test.each([
    ['other unused bits', published.replace('FI=', 'FJ=')],
    ['no padding', published.slice(0, -1)],
    ['base64url', published.replaceAll('+', '-').replaceAll('/', '_')],
    ['20 bytes', Buffer.alloc(20).toString('base64')],
  ])('a second spelling (%s) is malformed', (_name, value) => {
    expect(verify(request({ 'x-signature': value }, body), [KEY], NOW)).toMatchObject({ cause: 'signature_malformed' })
  })
})

describe('replay window', () => {
  const body = Buffer.from('{}')

  test.each([
    [-300, 'verified'],
    [300, 'verified'],
    [-301, 'timestamp_stale'],
    [301, 'timestamp_in_future'],
    [315_360_000, 'timestamp_in_future'],
  ])('signed %i s from now: %s (case B017: time window with holes)', (offset, expected) => {
    const verdict = timestamped(signed(body, String(NOW_S + offset)), [KEY], NOW)
    expect(verdict.kind === 'refused' ? verdict.cause : verdict.kind).toBe(expected)
  })

  test.each([
    String(NOW),
    '1767225600.5',
    '1e9',
    ' 1767225600',
    '1767225600 ',
    '-1',
    '+1',
    '0x69',
    'NaN',
    '١٧٦٧٢٢٥٦٠٠',
  ])('timestamp %j: malformed though rightly signed (case B017: time window with holes)', (timestamp) => {
    expect(timestamped(signed(body, timestamp), [KEY], NOW)).toMatchObject({ cause: 'timestamp_malformed' })
  })

  test('milliseconds where seconds are expected, and the other way round: the hint says so', () => {
    expect(timestamped(signed(body, String(NOW)), [KEY], NOW)).toMatchObject({
      hint: expect.stringContaining('milliseconds'),
    })
    const inMs = createHmacTimestamped({
      signatureHeader: 'x-signature',
      timestampHeader: 'x-timestamp',
      timestampUnit: 'ms',
    }).verify
    expect(inMs(signed(body, String(NOW)), [KEY], NOW)).toMatchObject({ kind: 'verified', signedAt: NOW })
    expect(inMs(signed(body, String(NOW_S)), [KEY], NOW)).toMatchObject({
      hint: expect.stringContaining('looks like seconds'),
    })
  })

  test('empty or absent timestamp: missing (case B017: time window with holes)', () => {
    expect(timestamped(signed(body, ''), [KEY], NOW)).toMatchObject({ cause: 'timestamp_missing' })
    const headers = { 'x-signature': sign(body, '').toString('hex') }
    expect(timestamped(request(headers, body), [KEY], NOW)).toMatchObject({ cause: 'timestamp_missing' })
  })

  test('a stranger with an old timestamp is a mismatch, not a late sender', () => {
    const forged = request({ 'x-signature': '0'.repeat(64), 'x-timestamp': '1' }, body)
    expect(timestamped(forged, [KEY], NOW)).toMatchObject({ cause: 'signature_mismatch' })
  })
})

describe('keys', () => {
  const body = Buffer.from('{}')
  const push = signed(body, String(NOW_S))
  const other = { id: 'other', secret: Buffer.from('another secret of some length') }

  test('the id of the key that matched is told, whatever its place', () => {
    expect(timestamped(push, [other, KEY], NOW)).toMatchObject({ keyId: 'k1' })
    expect(timestamped(push, [KEY, other], NOW)).toMatchObject({ keyId: 'k1' })
  })

  test('a key counts from notBefore to notAfter, both included', () => {
    const at = (window: { notBefore?: number; notAfter?: number }) => timestamped(push, [{ ...KEY, ...window }], NOW)
    expect(at({ notBefore: NOW, notAfter: NOW }).kind).toBe('verified')
    expect(at({ notBefore: NOW + 1 })).toMatchObject({ cause: 'no_active_key' })
    expect(at({ notAfter: NOW - 1 })).toMatchObject({ cause: 'no_active_key' })
    expect(timestamped(push, [], NOW)).toMatchObject({ cause: 'no_active_key' })
  })

  test('fail-open secrets: a push signed with the empty key never verifies (case B018: secret that lets everybody in)', () => {
    const empty = { id: 'empty', secret: Buffer.alloc(0) }
    const headers = { 'x-hub-signature-256': `sha256=${sign(body, null, empty.secret).toString('hex')}` }
    expect(headers['x-hub-signature-256']).toMatch(/^sha256=22f8eea909400af9/)
    expect(overBody(request(headers, body), [empty], NOW)).toMatchObject({ cause: 'no_active_key' })
    expect(overBody(request(headers, body), [empty, KEY], NOW)).toMatchObject({ cause: 'signature_mismatch' })
  })
})

describe('properties', () => {
  const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array))
  const flip = fc.record({ at: fc.nat(), mask: fc.integer({ min: 1, max: 255 }) })

  function change(buffer: Buffer, { at, mask }: { at: number; mask: number }): Buffer {
    const changed = Buffer.from(buffer)
    const index = at % changed.length
    changed[index] = (changed[index] ?? 0) ^ mask
    return changed
  }

  test('any bytes verify when they are signed, and no verifier throws', () => {
    fc.assert(
      fc.property(bytes, (body) => {
        expect(timestamped(signed(body, String(NOW_S)), [KEY], NOW).kind).toBe('verified')
      }),
    )
  })

  test('one changed byte of the body is refused', () => {
    fc.assert(
      fc.property(
        bytes.filter((body) => body.length > 0),
        flip,
        (body, where) => {
          const push = { ...signed(body, String(NOW_S)), rawBody: change(body, where) }
          expect(timestamped(push, [KEY], NOW)).toMatchObject({ cause: 'signature_mismatch' })
        },
      ),
    )
  })

  test('one changed byte of the timestamp is refused', () => {
    fc.assert(
      fc.property(bytes, flip, (body, where) => {
        const right = String(NOW_S)
        const changed = change(Buffer.from(right), where).toString('latin1')
        const push = request({ 'x-signature': sign(body, right).toString('hex'), 'x-timestamp': changed }, body)
        expect(timestamped(push, [KEY], NOW).kind).toBe('refused')
      }),
    )
  })

  test('one changed byte of the signature is refused', () => {
    fc.assert(
      fc.property(bytes, flip, (body, where) => {
        const wrong = change(sign(body, String(NOW_S)), where).toString('hex')
        const push = request({ 'x-signature': wrong, 'x-timestamp': String(NOW_S) }, body)
        expect(timestamped(push, [KEY], NOW)).toMatchObject({ cause: 'signature_mismatch' })
      }),
    )
  })

  test('what a scheme signs it believes, in every form', () => {
    const form = fc.record({
      prefix: fc.constantFrom('', 'sha256=', 'v1='),
      encoding: fc.constantFrom('hex' as const, 'base64' as const),
      timestampUnit: fc.constantFrom('s' as const, 'ms' as const),
    })
    fc.assert(
      fc.property(bytes, form, (rawBody, options) => {
        const whole = { ...options, signatureHeader: 'x-signature', timestampHeader: 'x-timestamp' }
        const push = { method: 'POST', publicUrl: null, headers: {}, rawBody }
        for (const [scheme, signedAt] of [
          [createHmacTimestamped(whole), NOW],
          [createHmacBody(whole), null],
        ] as const) {
          expect(scheme.verify(arriving(scheme.sign(push, KEY, NOW)), [KEY], NOW)).toMatchObject({
            keyId: 'k1',
            signedAt,
          })
        }
      }),
    )
  })

  test('any header text is judged without a throw', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (signature, timestamp) => {
        const push = request({ 'x-signature': signature, 'x-timestamp': timestamp }, Buffer.from('{}'))
        expect(timestamped(push, [KEY], NOW).kind).toBe('refused')
      }),
    )
  })
})
