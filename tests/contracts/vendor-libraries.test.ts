import { createHash, createHmac, type JsonWebKey } from 'node:crypto'
import type { PromptScheme, PushRequest, Scheme, SigningKey, UnsignedPush, Verification } from '@counterfoil/core'
import { NO_KEY_MATERIAL } from '@counterfoil/core'
import {
  githubScheme,
  googleScheme,
  qstashScheme,
  standardWebhooksScheme,
  stripeScheme,
  twilioScheme,
} from '@counterfoil/sources'
import * as octokit from '@octokit/webhooks-methods'
import { exportJWK, exportPKCS8, generateKeyPair, jwtVerify, SignJWT } from 'jose'
import { Webhook } from 'standardwebhooks'
import Stripe from 'stripe'
import twilio from 'twilio'
import { describe, expect, it } from 'vitest'

// Standard Webhooks' library reads the machine's clock and nothing else, so both sides get the same one.
const NOW = Date.now()
const SECONDS = Math.floor(NOW / 1000)
const URL_ = 'https://hooks.example.test/in?tenant=a%20b'

const BODIES = [
  ['an object', '{"id":"evt_1","amount":12}'],
  ['text beyond ASCII', '{"name":"Zoë – 東京 🎟"}'],
  ['white space and a line end', ' {\r\n  "a" : 1 }\n'],
  ['an integer that a number would round', '{"n":9007199254740993}'],
] as const
const NOT_UTF8 = Buffer.from([0x7b, 0xff, 0xfe, 0x7d])
/** What a decoder makes of it: other bytes than the sender's. */
const LOSSY = Buffer.from(NOT_UTF8.toString('utf8'))
const WITH_BOM = Buffer.from('\ufeff{"a":1}')

function pushOf(body: string | Buffer, headers: Readonly<Record<string, string>> = {}): UnsignedPush {
  return { method: 'POST', publicUrl: URL_, headers, rawBody: Buffer.from(body) }
}

function requestOf(push: UnsignedPush): PushRequest {
  const headers = new Map(Object.entries(push.headers).map(([name, value]) => [name, [value]] as const))
  return { ...push, query: new URL(push.publicUrl ?? URL_).search, headers }
}

function judge(scheme: PromptScheme, push: UnsignedPush, key: SigningKey, now = NOW): Verification {
  return scheme.verify(requestOf(push), [key], now)
}

const textKey = (text: string): SigningKey => ({ id: 'k1', secret: Buffer.from(text) })
const verified = { kind: 'verified', keyId: 'k1' }

describe('standardwebhooks 1.1.1', () => {
  const bytes = createHash('sha256').update('standard webhooks').digest()
  const vendor = new Webhook(`whsec_${bytes.toString('base64')}`)
  const key: SigningKey = { id: 'k1', secret: bytes }
  const ours = standardWebhooksScheme()
  const headersOf = (signature: string, seconds = SECONDS) => ({
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(seconds),
    'webhook-signature': signature,
  })
  const sign = (signed: Buffer) =>
    `v1,${createHmac('sha256', bytes).update(`msg_1.${SECONDS}.`).update(signed).digest('base64')}`

  it.each(BODIES)('signs what we accept: %s', (_what, body) => {
    const signature = vendor.sign('msg_1', new Date(SECONDS * 1000), body)
    expect(judge(ours, pushOf(body, headersOf(signature)), key)).toMatchObject(verified)
  })

  it.each(BODIES)('accepts what we sign: %s', (_what, body) => {
    const { headers } = ours.sign(pushOf(body, { 'webhook-id': 'msg_1' }), key, NOW)
    expect(() => vendor.verify(body, headers, { jsonParse: false })).not.toThrow()
  })

  it('accepts a signature over other bytes where a body is no UTF-8, and refuses the right one; we judge the bytes', () => {
    const [right, wrong] = [headersOf(sign(NOT_UTF8)), headersOf(sign(LOSSY))]
    expect(() => vendor.verify(NOT_UTF8, right, { jsonParse: false })).toThrow()
    expect(() => vendor.verify(NOT_UTF8, wrong, { jsonParse: false })).not.toThrow()
    expect(judge(ours, pushOf(NOT_UTF8, right), key)).toMatchObject(verified)
    expect(judge(ours, pushOf(NOT_UTF8, wrong), key)).toMatchObject({ cause: 'signature_mismatch' })
  })

  it('reads a number with anything behind it; we want digits', () => {
    const headers = { ...headersOf(vendor.sign('msg_1', new Date(SECONDS * 1000), '{}')) }
    headers['webhook-timestamp'] = `${SECONDS}x`
    expect(() => vendor.verify('{}', headers)).not.toThrow()
    expect(judge(ours, pushOf('{}', headers), key)).toMatchObject({ cause: 'timestamp_malformed' })
  })

  it.each([-306, 306])('refuses as we do when the time is off by %d s', (off) => {
    const at = SECONDS + off
    const headers = headersOf(vendor.sign('msg_1', new Date(at * 1000), '{}'), at)
    expect(() => vendor.verify('{}', headers)).toThrow(/too/i)
    expect(judge(ours, pushOf('{}', headers), key)).toMatchObject({
      cause: off < 0 ? 'timestamp_stale' : 'timestamp_in_future',
    })
  })
})

describe('stripe 23.1.0', () => {
  const secret = 'whsec_a_secret_that_is_text_all_of_it'
  const key = textKey(secret)
  const ours = stripeScheme()
  const { webhooks } = Stripe
  const headerOf = (payload: string, timestamp = SECONDS) =>
    webhooks.generateTestHeaderString({ payload, secret, timestamp })
  const accepts = (body: string | Buffer, header: string, seconds = SECONDS) => {
    try {
      return webhooks.signature?.verifyHeader(body, header, secret, 300, undefined, seconds * 1000) === true
    } catch {
      return false
    }
  }
  const sign = (signed: Buffer) =>
    `t=${SECONDS},v1=${createHmac('sha256', secret).update(`${SECONDS}.`).update(signed).digest('hex')}`
  const judgeHeader = (body: string | Buffer, header: string) =>
    judge(ours, pushOf(body, { 'stripe-signature': header }), key)

  it.each(BODIES)('signs what we accept: %s', (_what, body) => {
    expect(judgeHeader(body, headerOf(body))).toMatchObject(verified)
  })

  it.each(BODIES)('accepts what we sign: %s', (_what, body) => {
    const { headers } = ours.sign(pushOf(body), key, NOW)
    expect(accepts(body, headers['stripe-signature'] ?? '')).toBe(true)
  })

  it('accepts a signature over other bytes where a body is no UTF-8, and refuses the right one; we judge the bytes', () => {
    expect([accepts(NOT_UTF8, sign(NOT_UTF8)), accepts(NOT_UTF8, sign(LOSSY))]).toEqual([false, true])
    expect(judgeHeader(NOT_UTF8, sign(NOT_UTF8))).toMatchObject(verified)
    expect(judgeHeader(NOT_UTF8, sign(LOSSY))).toMatchObject({ cause: 'signature_mismatch' })
  })

  it('refuses a right signature over a body with a byte order mark; we judge the bytes', () => {
    expect(accepts(WITH_BOM, sign(WITH_BOM))).toBe(false)
    expect(judgeHeader(WITH_BOM, sign(WITH_BOM))).toMatchObject(verified)
  })

  it('accepts any time in the future; we allow five minutes either way', () => {
    const tomorrow = SECONDS + 86_400
    expect(accepts('{}', headerOf('{}', tomorrow))).toBe(true)
    expect(judgeHeader('{}', headerOf('{}', tomorrow))).toMatchObject({ cause: 'timestamp_in_future' })
  })

  it('refuses as we do what is stale', () => {
    const header = headerOf('{}', SECONDS - 301)
    expect(accepts('{}', header)).toBe(false)
    expect(judgeHeader('{}', header)).toMatchObject({ cause: 'timestamp_stale' })
  })
})

describe('@octokit/webhooks-methods 6.0.0', () => {
  const secret = 'It is a secret to everybody, this one'
  const key = textKey(secret)
  const ours = githubScheme()
  const judgeHeader = (body: string | Buffer, header: string) =>
    judge(ours, pushOf(body, { 'x-hub-signature-256': header }), key)

  it.each(BODIES)('signs what we accept: %s', async (_what, body) => {
    expect(judgeHeader(body, await octokit.sign(secret, body))).toMatchObject(verified)
  })

  it.each(BODIES)('accepts what we sign: %s', async (_what, body) => {
    const header = ours.sign(pushOf(body), key, NOW).headers['x-hub-signature-256'] ?? ''
    expect(await octokit.verify(secret, body, header)).toBe(true)
  })

  it('has no word for an empty body, which we verify', async () => {
    await expect(octokit.sign(secret, '')).rejects.toThrow()
    const empty = ours.sign(pushOf(''), key, NOW)
    expect(judge(ours, empty, key)).toMatchObject(verified)
  })

  it('takes text only, so that bytes which are no UTF-8 can not be right; we judge the bytes', async () => {
    const signed = ours.sign(pushOf(NOT_UTF8), key, NOW)
    const header = signed.headers['x-hub-signature-256'] ?? ''
    expect(await octokit.verify(secret, NOT_UTF8.toString('utf8'), header)).toBe(false)
    expect(judge(ours, signed, key)).toMatchObject(verified)
  })

  it('refuses as we do the older SHA-1 form', async () => {
    const header = `sha1=${createHmac('sha1', secret).update('{}').digest('hex')}`
    expect(await octokit.verify(secret, '{}', header)).toBe(false)
    expect(judgeHeader('{}', header)).toMatchObject({ cause: 'signature_malformed' })
  })
})

describe('twilio 6.3.1', () => {
  const token = '0123456789abcdef0123456789abcdef'
  const key = textKey(token)
  const ours = twilioScheme()
  const fields = { To: '+15550001111', Body: 'Zoë & 東京', SmsStatus: 'sent', Empty: '' }
  const form = new URLSearchParams(fields).toString()
  const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
  const JSON_ = { 'content-type': 'application/json' }
  const signedForm = (body: string, url = URL_, params: Record<string, unknown> = fields): UnsignedPush => ({
    ...pushOf(body, { ...FORM, 'x-twilio-signature': twilio.getExpectedTwilioSignature(token, url, params) }),
    publicUrl: url,
  })

  it('signs forms that we accept', () => {
    expect(judge(ours, signedForm(form), key)).toMatchObject(verified)
  })

  it('accepts forms that we sign', () => {
    const { headers } = ours.sign(pushOf(form, FORM), key, NOW)
    expect(twilio.validateRequest(token, headers['x-twilio-signature'] ?? '', URL_, fields)).toBe(true)
  })

  it('joins repeated fields as we do: sorted, and each once', () => {
    const url = 'https://hooks.example.test/in'
    const push = signedForm('Media=b&Media=a&Media=b', url, { Media: ['b', 'a', 'b'] })
    expect(judge(ours, push, key)).toMatchObject(verified)
  })

  it.each([
    'https://hooks.example.test/in',
    'https://hooks.example.test:443/in?a=1',
    'https://hooks.example.test/in?a=%27x%27&b=c+d',
  ])('signs %s, with or without its port, as we read it', (url) => {
    const portless = url.replace(':443', '')
    expect(judge(ours, { ...signedForm(form, url), publicUrl: portless }, key)).toMatchObject(verified)
  })

  it.each(BODIES)('accepts other bodies that we sign, by their hash in the URL: %s', (_what, body) => {
    const { headers, publicUrl } = ours.sign(pushOf(body, JSON_), key, NOW)
    const signature = headers['x-twilio-signature'] ?? ''
    expect(twilio.validateRequestWithBody(token, signature, publicUrl ?? '', body)).toBe(true)
  })

  it.each(BODIES)('signs other bodies that we accept: %s', (_what, body) => {
    const url = `${URL_}&bodySHA256=${twilio.getExpectedBodyHash(body)}`
    const signature = twilio.getExpectedTwilioSignature(token, url, {})
    const push = { ...pushOf(body, { ...JSON_, 'x-twilio-signature': signature }), publicUrl: url }
    expect(judge(ours, push, key)).toMatchObject(verified)
  })

  it('believes a body that no hash and no field covers; we refuse it', () => {
    const signature = twilio.getExpectedTwilioSignature(token, URL_, {})
    const push = pushOf('{"status":"whatever a stranger writes"}', { ...JSON_, 'x-twilio-signature': signature })
    expect(twilio.validateRequest(token, signature, URL_, {})).toBe(true)
    expect(judge(ours, push, key)).toMatchObject({ cause: 'body_hash_missing' })
  })
})

describe('jose 6.2.18, as issuers of tokens use it', () => {
  const judgeToken = (
    scheme: Scheme,
    push: UnsignedPush,
    keys: readonly SigningKey[],
    set: readonly JsonWebKey[] = [],
  ) => scheme.verify(requestOf(push), keys, NOW, { ...NO_KEY_MATERIAL, keySet: () => ({ kind: 'found', keys: set }) })
  const times = { iat: SECONDS, nbf: SECONDS, exp: SECONDS + 300 }

  it.each(BODIES)('signs for QStash what we accept, and accepts what we sign: %s', async (_what, body) => {
    const key = textKey('sig_a_key_of_thirty_two_characters')
    const scheme = qstashScheme()
    const hash = createHash('sha256').update(body).digest('base64url')
    const token = await new SignJWT({ ...times, iss: 'Upstash', sub: URL_, jti: 'j1', body: hash })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .sign(key.secret)
    expect(await judgeToken(scheme, pushOf(body, { 'upstash-signature': token }), [key])).toMatchObject(verified)
    const signed = await scheme.sign?.(pushOf(body), key, NOW)
    const { payload } = await jwtVerify(signed?.headers['upstash-signature'] ?? '', key.secret, {
      issuer: 'Upstash',
      subject: URL_,
      algorithms: ['HS256'],
      currentDate: new Date(NOW),
    })
    expect(String(payload.body).replace(/=+$/, '')).toBe(hash)
  })

  it('signs for Google what we accept, and accepts what we sign', async () => {
    const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true })
    const email = 'push@project.iam.gserviceaccount.com'
    const scheme = googleScheme({ serviceAccounts: [email] })
    const set = [{ ...(await exportJWK(publicKey)), kid: 'g1' }]
    const issue = (claims: Record<string, unknown>) =>
      new SignJWT({ ...times, iss: 'https://accounts.google.com', aud: URL_, email, email_verified: true, ...claims })
        .setProtectedHeader({ alg: 'RS256', kid: 'g1' })
        .sign(privateKey)
    const judgeBearer = async (token: string) =>
      judgeToken(scheme, pushOf('{}', { authorization: `Bearer ${token}` }), [], set)
    expect(await judgeBearer(await issue({}))).toMatchObject({ kind: 'verified', keyId: 'g1' })

    const pem = Buffer.from(await exportPKCS8(privateKey))
    const signed = await scheme.sign?.(pushOf('{}'), { id: 'g1', secret: pem }, NOW)
    const ours = (signed?.headers.authorization ?? '').replace('Bearer ', '')
    const options = { audience: URL_, issuer: 'https://accounts.google.com', currentDate: new Date(NOW) }
    expect((await jwtVerify(ours, publicKey, options)).payload.email).toBe(email)

    // A token of any other Google account for our audience is as valid to the library; we ask whose it is.
    const stranger = await issue({ email: 'stranger@example.test' })
    await expect(jwtVerify(stranger, publicKey, options)).resolves.toBeDefined()
    expect(await judgeBearer(stranger)).toMatchObject({ cause: 'token_claim' })
  })
})
