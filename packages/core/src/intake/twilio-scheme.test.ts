import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseForm } from './parse-form.js'
import type { SigningKey } from './push-request.js'
import { arriving } from './testing/requests.js'
import { createTwilioScheme } from './twilio-scheme.js'
import { listTwilioUrls } from './twilio-urls.js'

const NOW = 1_767_225_600_000
const twilio = createTwilioScheme()
const key: SigningKey = { id: 'primary', secret: Buffer.from('12345') }
const url = 'https://a.test/sms?foo=1'
const formType = { 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' }

function sign(rawBody: string, headers: Record<string, string> = formType, publicUrl = url) {
  return twilio.sign({ method: 'POST', publicUrl, headers, rawBody: Buffer.from(rawBody) }, key, NOW)
}

const judge = (push: ReturnType<typeof sign>) => twilio.verify(arriving(push), [key], NOW)

test('a changed byte of a form is refused, or it is another spelling of the same fields', () => {
  const fields = fc.array(fc.tuple(fc.string({ minLength: 1 }), fc.string()), { minLength: 1, maxLength: 5 })
  fc.assert(
    fc.property(fields, fc.nat(), fc.integer({ min: 1, max: 255 }), (pairs, at, mask) => {
      const push = sign(new URLSearchParams(pairs).toString())
      expect(judge(push).kind).toBe('verified')
      const rawBody = Buffer.from(push.rawBody)
      const index = at % rawBody.length
      rawBody[index] = (rawBody[index] ?? 0) ^ mask
      if (judge({ ...push, rawBody }).kind !== 'verified') return
      expect(valuesOf(rawBody)).toEqual(valuesOf(push.rawBody))
    }),
    { numRuns: 500 },
  )
})

test('the border between a name and its value is not signed: a character may move over it, and still it verifies', () => {
  const push = sign('To=15551234')
  for (const rawBody of ['To1=5551234', 'T=o15551234']) {
    expect(judge({ ...push, rawBody: Buffer.from(rawBody) }), rawBody).toMatchObject({ kind: 'verified' })
  }
  expect(judge({ ...push, rawBody: Buffer.from('To=15551235') })).toMatchObject({ cause: 'signature_mismatch' })
})

/** What the signature is about: names, each with its set of values. */
function valuesOf(rawBody: Buffer): unknown {
  const form = parseForm(rawBody)
  if (form.kind === 'malformed') return null
  return [...form.fields].map(([name, values]) => [name, [...new Set(values)].sort()] as const).sort()
}

describe('a body that no signature covers', () => {
  test('JSON without its hash in the URL is refused', () => {
    const push = { ...sign('{}', { 'content-type': 'application/json' }), publicUrl: url }
    expect(judge(push)).toMatchObject({ cause: 'body_hash_missing' })
  })

  test('a hash twice, a field without a value, and a form that is no UTF-8', () => {
    const json = sign('{}', { 'content-type': 'application/json' })
    expect(judge({ ...json, publicUrl: `${json.publicUrl}&bodySHA256=00` })).toMatchObject({
      cause: 'body_hash_mismatch',
    })
    expect(judge({ ...sign('a=b'), rawBody: Buffer.from('a&b') })).toMatchObject({ cause: 'envelope_malformed' })
    expect(judge({ ...sign('a=b'), rawBody: Buffer.from([0xff, 0x3d]) })).toMatchObject({ cause: 'envelope_malformed' })
  })

  test('an empty body is signed by the URL alone', () => {
    expect(judge(sign('', {}))).toMatchObject({ kind: 'verified' })
  })
})

test('both tokens count while one is being changed', () => {
  const next: SigningKey = { id: 'secondary', secret: Buffer.from('67890') }
  expect(twilio.verify(arriving(sign('a=b')), [next, key], NOW)).toMatchObject({ keyId: 'primary' })
  expect(twilio.verify(arriving(sign('a=b')), [next], NOW)).toMatchObject({ cause: 'signature_mismatch' })
})

describe('spellings of the URL', () => {
  test.each([
    ['https://a.test/x', ['https://a.test/x', 'https://a.test:443/x']],
    ['http://a.test:8080/x', ['http://a.test/x', 'http://a.test:8080/x']],
    ['https://u:p@a.test/x', ['https://u:p@a.test/x', 'https://u:p@a.test:443/x']],
    [
      "https://a.test/x?q='a+b",
      [
        "https://a.test/x?q='a+b",
        "https://a.test:443/x?q='a+b",
        "https://a.test/x?q='a%20b",
        "https://a.test:443/x?q='a%20b",
      ],
    ],
    ['https://a.test/x?q=%zz', ['https://a.test/x?q=%zz', 'https://a.test:443/x?q=%zz']],
  ])('%s', (given, expected) => {
    expect(listTwilioUrls(given)).toEqual(expected)
  })
})
