import { describe, expect, test } from 'vitest'
import { createHmacScheme } from '../intake/hmac-scheme.js'
import { NO_KEY_MATERIAL } from '../intake/key-material.js'
import type { SigningKey } from '../intake/push-request.js'
import type { Binds } from '../intake/scheme.js'
import type { PromptScheme } from '../intake/signed-headers-scheme.js'
import { createStaticTokenScheme } from '../intake/static-token-scheme.js'
import { arriving, request } from '../intake/testing/requests.js'
import { createTwilioScheme } from '../intake/twilio-scheme.js'
import { diagnosePush } from './diagnose-push.js'

const NOW = 1_767_225_600_000
const SECRET = Buffer.from('a secret of the tests, 32 bytes!')
const URL_OF_TESTS = 'https://hooks.example.test/in?a=1'

const bodyScheme = createHmacScheme({
  parts: ['body'],
  headers: { signature: 'x-signature' },
  grammar: { kind: 'single', prefix: '' },
})
const timedScheme = createHmacScheme({
  parts: ['timestamp', { text: '.' }, 'body'],
  headers: { signature: 'x-signature', timestamp: 'x-time' },
  grammar: { kind: 'single', prefix: '' },
})
const urlScheme = createHmacScheme({
  parts: ['method', 'url', 'body'],
  headers: { signature: 'x-signature' },
  grammar: { kind: 'single', prefix: '' },
})

type Push = {
  readonly scheme?: Pick<PromptScheme, 'verify' | 'sign'> & { readonly binds: Binds }
  readonly signedBody?: string | Buffer
  readonly signedUrl?: string
  readonly signedWith?: Buffer
  readonly body?: string | Buffer
  readonly url?: string
  readonly keys?: readonly SigningKey[]
  readonly everything?: Buffer | null
  readonly target?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Signed one way, and judged another. */
async function diagnose(push: Push) {
  const { scheme = bodyScheme, signedBody = '{}', signedUrl = URL_OF_TESTS, signedWith = SECRET } = push
  const { body = signedBody, url = signedUrl, keys = [{ id: 'k1', secret: SECRET }], everything = null } = push
  const unsigned = {
    method: 'POST',
    publicUrl: signedUrl,
    headers: push.headers ?? {},
    rawBody: Buffer.from(signedBody),
  }
  const signed = scheme.sign(unsigned, { id: 'sender', secret: signedWith }, NOW)
  const arrived = { ...arriving(signed), publicUrl: url, rawBody: Buffer.from(body) }
  const subject = { request: arrived, keys }
  const target = push.target ?? '/in?a=1'
  return diagnosePush({ verifier: scheme, subject, at: NOW, material: NO_KEY_MATERIAL, target, everything })
}

const codesOf = async (push: Push) => (await diagnose(push)).map(({ codes }) => codes.join('+'))
const keyOf = (text: string | Buffer): readonly SigningKey[] => [{ id: 'k1', secret: Buffer.from(text) }]

describe('a secret that is read in another way than the sender does', () => {
  const base64 = SECRET.toString('base64')
  test.each([
    ['base64', SECRET, base64],
    ['base64', SECRET, base64.replace(/=+$/, '')],
    ['hex', SECRET, SECRET.toString('hex')],
    ['whsec', SECRET, `whsec_${base64}`],
    ['text_after_prefix', Buffer.from(base64), `whsec_${base64}`],
    ['text_of_base64', Buffer.from(base64), SECRET],
    ['text_of_base64_unpadded', Buffer.from(base64.replace(/=+$/, '')), SECRET],
    ['text_of_whsec', Buffer.from(`whsec_${base64}`), SECRET],
    ['text_of_hex', Buffer.from(SECRET.toString('hex')), SECRET],
    ['trimmed', SECRET, `${SECRET}\n`],
    ['unquoted', SECRET, `"${SECRET}"`],
    ['with_lf', Buffer.from(`${SECRET}\n`), SECRET],
    ['with_crlf', Buffer.from(`${SECRET}\r\n`), SECRET],
  ])('is found: %s', async (code, signedWith, held) => {
    const [finding, ...others] = await diagnose({ signedWith, keys: keyOf(held) })
    expect(finding).toMatchObject({ parts: ['secret'], codes: [`secret_${code}`], keyId: 'k1' })
    expect(others).toEqual([])
    for (const text of [SECRET.toString(), base64]) expect(JSON.stringify(finding)).not.toContain(text)
  })

  test('is found for a token, too', async () => {
    const scheme = createStaticTokenScheme({ kind: 'header', header: 'x-api-key' })
    expect(
      await codesOf({ scheme, signedWith: Buffer.from('t'.repeat(20)), keys: keyOf(`${'t'.repeat(20)}\n`) }),
    ).toEqual(['secret_trimmed'])
  })
})

describe('a body that something on the way has changed', () => {
  const value = { b: 'é/<', a: [1, { c: null }] }
  const minified = JSON.stringify(value)
  const ascii = minified.replace('é', '\\u00e9')
  test.each([
    ['without_final_newline', '{}', '{}\n'],
    ['with_final_lf', '{}\n', '{}'],
    ['with_final_crlf', 'x\r\n', 'x'],
    ['lf', '{\n"a":\n1}', '{\r\n"a":\r\n1}'],
    ['crlf', 'a\r\nb', 'a\nb'],
    ['without_bom', 'x', '\ufeffx'],
    ['with_bom', '\ufeffx', 'x'],
    ['not_encoded_twice', 'é', 'Ã©'],
    ['empty', '', '{"a":1}'],
    ['minified', minified, JSON.stringify(value, null, 2)],
    ['minified_lf', `${minified}\n`, JSON.stringify(value, null, 3)],
    ['minified_ascii', ascii, minified],
    ['minified_slashes', minified.replaceAll('/', '\\/'), minified],
    ['minified_slashes_ascii', ascii.replaceAll('/', '\\/'), minified],
    ['minified_html', minified.replaceAll('<', '\\u003c'), minified],
    ['spaced', '{"b": "é/<", "a": [1, {"c": null}]}', minified],
    ['spaced_ascii', '{"b": "\\u00e9/<", "a": [1, {"c": null}]}', minified],
    ['indented_2', JSON.stringify(value, null, 2), minified],
    ['minified', '{"n":12345678901234567890,"t":"a: b, \\" c"}', '{ "n": 12345678901234567890,\n "t": "a: b, \\" c" }'],
    ['spaced', '{"n": 12345678901234567890, "l": []}', '{"n":12345678901234567890,"l":[]}'],
    ['indented_4', JSON.stringify(value, null, 4), minified],
  ])('is found: %s', async (code, signedBody, body) => {
    expect(await codesOf({ signedBody, body })).toEqual([`body_${code}`])
  })

  test('by its Content-Length is found in all that follows the headers', async () => {
    expect(await codesOf({ signedBody: '{"a":1}\n', body: '{"a":1', everything: Buffer.from('{"a":1}\n') })).toEqual([
      'body_all_bytes',
    ])
  })

  test('by its Content-Length and its spaces is found, too', async () => {
    const everything = Buffer.from('{"a": 1}')
    expect(await codesOf({ signedBody: '{"a":1}', body: '{"a": 1', everything })).toEqual(['body_minified'])
  })

  test('with a text of a million escapes is read without a limit of the engine', async () => {
    const body = JSON.stringify({ text: '"x'.repeat(1_000_000), n: 1 })
    expect(
      await codesOf({ signedBody: body.replace(',"n"', ', "n"').replace('{"', '{ "'), body: `${body}\n` }),
    ).toEqual([])
    expect(await codesOf({ signedBody: body, body: body.replace('{"', '{ "') })).toEqual(['body_minified'])
  })

  test('is not found where its content is another', async () => {
    expect(await diagnose({ signedBody: '{"a":1}', body: '{"a":2}' })).toEqual([])
  })

  test('is not looked for where the signature does not cover it', async () => {
    const scheme = createStaticTokenScheme({ kind: 'header', header: 'x-api-key' })
    expect(await diagnose({ scheme, body: '{}\n', keys: keyOf('another token of the tests') })).toEqual([])
  })
})

describe('a URL that is not the one that the sender was given', () => {
  test.each([
    ['http://hooks.example.test/in?a=1', URL_OF_TESTS],
    ['https://hooks.example.test/in/?a=1', URL_OF_TESTS],
    ['https://hooks.example.test:443/in?a=1', URL_OF_TESTS],
    ['https://hooks.example.test/in?a=1', 'https://hooks.example.test:8443/in?a=1'],
    ['https://hooks.example.test/in', URL_OF_TESTS],
  ])('is found: signed for %s', async (signedUrl, url) => {
    const [finding] = await diagnose({ scheme: urlScheme, signedUrl, url })
    expect(finding).toMatchObject({ parts: ['url'], codes: ['url_other'] })
    expect(finding?.words[0]).toContain(signedUrl.replace(/\?.*/, ''))
    // A query may hold a token.
    expect(JSON.stringify(finding)).not.toContain('a=1')
  })

  test('is found in the Host header and the path of the request', async () => {
    const push = { scheme: urlScheme, headers: { host: 'tunnel.example.test' }, target: '/moved?a=1' }
    const signedUrl = 'https://tunnel.example.test/moved?a=1'
    expect(await codesOf({ ...push, signedUrl, url: URL_OF_TESTS })).toEqual(['url_other'])
  })

  test('is found for Twilio, which signs it with the fields of a form', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const push = { scheme: createTwilioScheme(), headers, signedBody: 'A=b' }
    expect(await codesOf({ ...push, signedUrl: 'http://hooks.example.test/in', url: URL_OF_TESTS })).toEqual([
      'url_other',
    ])
  })
})

describe('keys and headers', () => {
  test('a key that is not active is named with its window', async () => {
    const keys = [
      { id: 'old', secret: SECRET, notAfter: NOW - 1 },
      { id: 'new', secret: Buffer.from('another secret of the tests'), notBefore: NOW - 1 },
    ]
    const [finding] = await diagnose({ keys })
    expect(finding).toMatchObject({ codes: ['key_not_active_any_more'], keyId: 'old' })
    expect(finding?.words[0]).toContain('key old were active, which it is only until 2025-12-31T23:59:59.999Z')
    const early = [{ id: 'k1', secret: SECRET, notBefore: NOW + 1 }]
    expect(await codesOf({ keys: early })).toEqual(['key_not_active_yet'])
  })

  test('a header that came twice is named, and which of the two is right', async () => {
    const signed = bodyScheme.sign(
      { method: 'POST', publicUrl: null, headers: {}, rawBody: Buffer.from('{}') },
      { id: 'k', secret: SECRET },
      NOW,
    )
    const right = signed.headers['x-signature'] ?? ''
    const twice = (values: readonly string[]) => ({
      verifier: bodyScheme,
      subject: { request: request({ 'x-signature': values }, '{}'), keys: keyOf(SECRET) },
      at: NOW,
      material: NO_KEY_MATERIAL,
      target: '/',
      everything: null,
    })
    const [last] = await diagnosePush(twice(['0'.repeat(64), right]))
    expect(last).toMatchObject({ codes: ['header_last_only'] })
    expect(last?.words[0]).not.toContain(right)
    expect(await diagnosePush(twice([right, right]))).toMatchObject([{ codes: ['header_first_only'] }])
  })
})

describe('two mistakes at once', () => {
  test('are found together', async () => {
    const keys = keyOf(SECRET.toString('hex'))
    expect(await codesOf({ keys, signedBody: '{}', body: '{}\n' })).toEqual(['secret_hex+body_without_final_newline'])
  })

  test('a late push with a misread secret: the signature is right, so the secret is named', async () => {
    const late = timedScheme.sign(
      { method: 'POST', publicUrl: null, headers: {}, rawBody: Buffer.from('{}') },
      { id: 'k', secret: SECRET },
      NOW - 3_600_000,
    )
    const subject = { request: arriving(late), keys: keyOf(SECRET.toString('hex')) }
    const push = { verifier: timedScheme, subject, at: NOW, material: NO_KEY_MATERIAL, target: '/', everything: null }
    expect(await diagnosePush(push)).toMatchObject([{ codes: ['secret_hex'] }])
  })
})
