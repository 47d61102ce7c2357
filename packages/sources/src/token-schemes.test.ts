import { createHash, createHmac, createPrivateKey, createPublicKey } from 'node:crypto'
import type { SigningKey } from '@counterfoil/core'
import { SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { GOOGLE, NOW, rsaMaterial, rsaSigningKey } from './testing/signing.js'
import { arriving } from './testing/vectors.js'
import { entraScheme, googleScheme, qstashScheme } from './token-schemes.js'

const NOW_S = NOW / 1000
const google = googleScheme(GOOGLE)
const body = Buffer.from('{"message":{"data":"e30=","messageId":"1"},"subscription":"projects/p/subscriptions/s"}')

type Claims = Record<string, unknown>
const RIGHT: Claims = {
  iss: 'https://accounts.google.com',
  aud: GOOGLE.audience[0],
  email: GOOGLE.serviceAccounts[0],
  email_verified: true,
  iat: NOW_S,
  exp: NOW_S + 3600,
}

function tokenOf(claims: Claims, header = { alg: 'RS256', kid: 'rsa-1' }): Promise<string> {
  return new SignJWT(claims).setProtectedHeader(header).sign(createPrivateKey(rsaSigningKey.secret))
}

async function judge(authorization: string | readonly string[], material = rsaMaterial) {
  const request = arriving({ method: 'POST', publicUrl: null, headers: {}, rawBody: body })
  const values = typeof authorization === 'string' ? [authorization] : authorization
  return google.verify({ ...request, headers: new Map([['authorization', values]]) }, [], NOW, material)
}

test('a second spelling of a right signature is refused: the unused bits of its last character are zero', async () => {
  const token = await tokenOf(RIGHT)
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const other = alphabet[alphabet.indexOf(token.slice(-1)) + 1]
  expect(await judge(`Bearer ${token}`)).toMatchObject({ kind: 'verified' })
  expect(await judge(`Bearer ${token.slice(0, -1)}${other}`)).toMatchObject({ cause: 'token_malformed' })
})

describe('oidc: right signature, and everything else has to be right as well', () => {
  test.each([
    ['as it should be', {}],
    ['the other spelling of the issuer', { iss: 'accounts.google.com' }],
    ['expired within the tolerance', { exp: NOW_S - 29 }],
    ['issued 10 s ahead of our clock', { iat: NOW_S + 10, nbf: NOW_S + 10 }],
  ])(
    '%s: verified by its kid, and the body is not bound (case B020: right token for somebody else)',
    async (_title, changes) => {
      const verdict = await judge(`Bearer ${await tokenOf({ ...RIGHT, ...changes })}`)
      expect(verdict).toMatchObject({ kind: 'verified', keyId: 'rsa-1', bodyBound: false })
    },
  )

  test.each([
    ['aud missing', { aud: undefined }, 'token_claim'],
    ['aud other', { aud: 'https://other.example.com' }, 'token_claim'],
    ['aud with a trailing slash', { aud: `${GOOGLE.audience[0]}/` }, 'token_claim'],
    ['aud a list with ours in it', { aud: [GOOGLE.audience[0], 'https://other.example.com'] }, 'token_claim'],
    ['another service account', { email: 'stranger@project.iam.gserviceaccount.com' }, 'token_claim'],
    ['e-mail not verified', { email_verified: false }, 'token_claim'],
    ['e-mail verified as a text', { email_verified: 'true' }, 'token_claim'],
    ['another issuer', { iss: 'https://accounts.google.com.evil.test' }, 'token_claim'],
    ['exp missing', { exp: undefined }, 'token_claim'],
    ['exp no number', { exp: '9999999999' }, 'token_claim'],
    ['expired beyond the tolerance', { exp: NOW_S - 30 }, 'token_expired'],
    ['not yet valid', { nbf: NOW_S + 31 }, 'token_not_yet_valid'],
    ['issued in the future', { iat: NOW_S + 31 }, 'token_not_yet_valid'],
  ])('%s: refused', async (_title, changes, cause) => {
    const verdict = await judge(`Bearer ${await tokenOf({ ...RIGHT, ...changes })}`)
    expect(verdict).toMatchObject({ kind: 'refused', cause })
  })

  test('alg none, and HS256 with the public key as its secret: refused (case B020: right token for somebody else)', async () => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const none = `${part({ alg: 'none', kid: 'rsa-1' })}.${part(RIGHT)}.`
    expect(await judge(`Bearer ${none}`)).toMatchObject({ cause: 'token_malformed' })
    expect(await judge(`Bearer ${none}AAAA`)).toMatchObject({ cause: 'signature_version_unknown' })
    const pem = createPublicKey(createPrivateKey(rsaSigningKey.secret)).export({ format: 'pem', type: 'spki' })
    const signed = `${part({ alg: 'HS256', kid: 'rsa-1' })}.${part(RIGHT)}`
    const confused = `${signed}.${createHmac('sha256', pem).update(signed).digest('base64url')}`
    expect(await judge(`Bearer ${confused}`)).toMatchObject({ cause: 'signature_version_unknown' })
  })

  test('a symmetric key in a published set never counts', async () => {
    const oct = { kty: 'oct', kid: 'rsa-1', k: Buffer.from('anybody').toString('base64url') }
    const material = { ...rsaMaterial, keySet: () => ({ kind: 'found', keys: [oct] }) as const }
    expect(await judge(`Bearer ${await tokenOf(RIGHT)}`, material)).toMatchObject({ cause: 'key_unknown' })
  })

  test('a token that names no key, or one that the issuer does not have: refused', async () => {
    const nameless = await new SignJWT(RIGHT)
      .setProtectedHeader({ alg: 'RS256' })
      .sign(createPrivateKey(rsaSigningKey.secret))
    expect(await judge(`Bearer ${nameless}`)).toMatchObject({ cause: 'key_unknown' })
    expect(await judge(`Bearer ${await tokenOf(RIGHT, { alg: 'RS256', kid: 'other' })}`)).toMatchObject({
      cause: 'key_unknown',
    })
  })

  test('keys that are not to be had: unavailable, whatever the token is', async () => {
    const material = { ...rsaMaterial, keySet: () => ({ kind: 'missing', cause: 'timeout' }) as const }
    expect(await judge(`Bearer ${await tokenOf(RIGHT)}`, material)).toMatchObject({
      kind: 'unavailable',
      cause: 'key_material_unavailable',
    })
  })

  test('the header: either case of bearer, once, and a JWT after it (case B020: right token for somebody else)', async () => {
    const token = await tokenOf(RIGHT)
    expect(await judge(`bearer ${token}`)).toMatchObject({ kind: 'verified' })
    expect(await judge([`Bearer ${token}`, `Bearer ${token}`])).toMatchObject({ cause: 'token_repeated' })
    expect(await judge(`Basic ${token}`)).toMatchObject({ cause: 'token_malformed' })
    expect(await judge(`Bearer  ${token}`)).toMatchObject({ cause: 'token_malformed' })
    // 256 bytes leave four bits of the last letter unused: the next letter spells the same bytes.
    const respelled = token.slice(0, -1) + String.fromCharCode(token.charCodeAt(token.length - 1) + 1)
    expect(await judge(`Bearer ${respelled}`)).toMatchObject({ cause: 'token_malformed' })
    expect(await judge(`Bearer ${'a'.repeat(9000)}`)).toMatchObject({ cause: 'token_malformed' })
    expect(await judge('')).toMatchObject({ cause: 'token_missing' })
  })
})

describe('entra: the application is in azp or appid, by the version of the token', () => {
  const entra = entraScheme({ tenant: 'contoso', audience: ['api://c'], applications: ['app-1'] })
  const base = { iss: 'https://login.microsoftonline.com/contoso/v2.0', aud: 'api://c', exp: NOW_S + 3600 }

  test.each([
    [{ azp: 'app-1' }, 'verified'],
    [{ appid: 'app-1', iss: 'https://sts.windows.net/contoso/' }, 'verified'],
    [{ azp: 'app-2' }, 'refused'],
    [{}, 'refused'],
    [{ azp: 'app-1', iss: 'https://login.microsoftonline.com/other/v2.0' }, 'refused'],
  ])('%j: %s', async (claims, kind) => {
    const headers = { authorization: `Bearer ${await tokenOf({ ...base, ...claims })}` }
    const request = arriving({ method: 'POST', publicUrl: null, headers, rawBody: body })
    expect((await entra.verify(request, [], NOW, rsaMaterial)).kind).toBe(kind)
  })

  test('a tenant that would change the URL of the keys is a mistake', () => {
    expect(() => entraScheme({ tenant: 'a/../b', audience: [], applications: [] })).toThrow(/tenant/)
  })
})

describe('qstash: subject URL, body hash, next key', () => {
  const qstash = qstashScheme()
  const current: SigningKey = { id: 'current', secret: Buffer.from('sig_current_0123456789') }
  const next: SigningKey = { id: 'next', secret: Buffer.from('sig_next_0123456789') }
  const url = 'https://hooks.example.test/hooks/q?x=1'
  const hash = createHash('sha256').update(body).digest('base64url')
  const claims = { iss: 'Upstash', sub: url, iat: NOW_S, nbf: NOW_S, exp: NOW_S + 300, jti: 'j', body: hash }

  async function deliver(changes: Claims, key = current, at = url, rawBody = body) {
    const token = await new SignJWT({ ...claims, ...changes }).setProtectedHeader({ alg: 'HS256' }).sign(key.secret)
    const request = arriving({ method: 'POST', publicUrl: at, headers: { 'upstash-signature': token }, rawBody })
    return qstash.verify(request, [current, next], NOW, rsaMaterial)
  }

  test('the current key, the next key, and either form of the hash (case B022: address behind a proxy, body hash and next key)', async () => {
    expect(await deliver({})).toMatchObject({ kind: 'verified', keyId: 'current', bodyBound: true, signedAt: NOW })
    expect(await deliver({}, next)).toMatchObject({ kind: 'verified', keyId: 'next' })
    expect(await deliver({ body: `${hash}=` })).toMatchObject({ kind: 'verified' })
  })

  test.each([
    ['sub without the query', { sub: 'https://hooks.example.test/hooks/q' }, 'token_claim'],
    ['sub with a trailing slash', { sub: 'https://hooks.example.test/hooks/q/?x=1' }, 'token_claim'],
    ['another issuer', { iss: 'Evil' }, 'token_claim'],
    ['expired', { exp: NOW_S - 5 }, 'token_expired'],
    ['no hash', { body: undefined }, 'body_hash_missing'],
    ['the hash of other bytes', { body: createHash('sha256').update('x').digest('base64url') }, 'body_hash_mismatch'],
    ['a hash in another spelling', { body: hash.replace(/.$/, '*') }, 'body_hash_mismatch'],
  ])('%s: refused', async (_title, changes, cause) => {
    expect(await deliver(changes)).toMatchObject({ kind: 'refused', cause })
  })

  test('one more space in the body, or another key: refused (case B022: address behind a proxy, body hash and next key)', async () => {
    expect(await deliver({}, current, url, Buffer.concat([body, Buffer.from(' ')]))).toMatchObject({
      cause: 'body_hash_mismatch',
    })
    expect(await deliver({}, { id: 'x', secret: Buffer.from('another') })).toMatchObject({
      cause: 'signature_mismatch',
    })
  })

  test('an empty body has a hash like any other (case B007: empty body that is signed)', async () => {
    const empty = createHash('sha256').update('').digest('base64url')
    expect(await deliver({ body: empty }, current, url, Buffer.alloc(0))).toMatchObject({ kind: 'verified' })
  })
})
