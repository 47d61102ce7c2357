import { createSecretKey, type KeyObject } from 'node:crypto'
import {
  isActive,
  type KeyMaterial,
  type PushRequest,
  type Refusal,
  refuse,
  type Scheme,
  type SigningKey,
  type Unavailable,
  unavailable,
} from '@counterfoil/core'
import { compactVerify, decodeProtectedHeader } from 'jose'
import { type ClaimRules, checkBodyHash, checkClaims } from './jwt-claims.js'
import { createJwtSigner } from './jwt-signer.js'
import { createKeyPicker } from './pick-key.js'
import { readBearer, type TokenHeader } from './read-bearer.js'

export type JwtOptions = ClaimRules & {
  readonly token: TokenHeader
  readonly keys:
    | { readonly kind: 'shared'; readonly algorithm: 'HS256' | 'HS384' | 'HS512' }
    /** Published by the issuer. */
    | {
        readonly kind: 'published'
        readonly url: string
        readonly algorithms: readonly ('RS256' | 'ES256' | 'PS256')[]
      }
}

/**
 * A signed token of an issuer. It says who sent a push; the content is covered only where a claim holds its hash, and a
 * token without one may come again with other content until it expires.
 */
export function createJwtScheme(options: JwtOptions): Scheme {
  const sharedKeys = new WeakMap<Buffer, KeyObject>()
  const pickKey = createKeyPicker()

  async function verify(
    request: PushRequest,
    keys: readonly SigningKey[],
    now: number,
    material: KeyMaterial,
  ): ReturnType<typeof checkAll> {
    const token = readBearer(request.headers, options.token)
    if (token.kind === 'refused') return token
    const header = readHeader(token.text)
    if (header.kind === 'refused') return header
    const signed =
      options.keys.kind === 'shared'
        ? await matchShared(token.text, header, keys, now, options.keys.algorithm, sharedKeys)
        : await matchPublished(token.text, header, options.keys, material, pickKey)
    if (signed.kind !== 'signed') return signed
    return checkAll(request, signed, now, options)
  }

  return {
    family: 'jwt',
    verify,
    sign: createJwtSigner(options),
    binds: {
      body: options.bodyHashClaim !== null,
      id: false,
      time: true,
      url: options.subject === 'public_url' || options.audience === 'public_url',
    },
    toleranceMs: options.clockToleranceMs,
    needsPublicUrl: options.subject === 'public_url' || options.audience === 'public_url',
    keyEncoding: options.keys.kind === 'shared' ? 'utf8' : null,
  }
}

type Signed = { readonly kind: 'signed'; readonly keyId: string; readonly payload: Uint8Array }
type TokenHead = { readonly kind: 'header'; readonly alg: string | undefined; readonly kid: string | undefined }

function readHeader(token: string): TokenHead | Refusal {
  try {
    const { alg, kid } = decodeProtectedHeader(token)
    return { kind: 'header', alg, kid: typeof kid === 'string' ? kid : undefined }
  } catch {
    return refuse('token_malformed', 'the token is not a signed JWT')
  }
}

/** Every active key is tried whatever matched before. */
async function matchShared(
  token: string,
  header: TokenHead,
  keys: readonly SigningKey[],
  now: number,
  algorithm: string,
  known: WeakMap<Buffer, KeyObject>,
): Promise<Signed | Refusal | Unavailable> {
  const active = keys.filter((key) => isActive(key, now))
  if (active.length === 0) return unavailable('no_active_key', 'no key of this source is active now')
  if (header.alg !== algorithm) return refuse('signature_version_unknown', `the token is not signed with ${algorithm}`)
  let signed: Signed | null = null
  for (const key of active) {
    const secret = known.get(key.secret) ?? createSecretKey(key.secret)
    known.set(key.secret, secret)
    const payload = await readSigned(token, secret, [algorithm])
    if (payload !== null) signed ??= { kind: 'signed', keyId: key.id, payload }
  }
  const tried = `tried ${active.length} active key${active.length === 1 ? '' : 's'}`
  return signed ?? refuse('signature_mismatch', tried)
}

async function matchPublished(
  token: string,
  header: TokenHead,
  keys: JwtOptions['keys'] & { readonly kind: 'published' },
  material: KeyMaterial,
  pickKey: ReturnType<typeof createKeyPicker>,
): Promise<Signed | Refusal | Unavailable> {
  if (!(keys.algorithms as readonly (string | undefined)[]).includes(header.alg)) {
    return refuse('signature_version_unknown', `the token is not signed with ${keys.algorithms.join(' or ')}`)
  }
  if (header.kid === undefined) return refuse('key_unknown', 'the token names no key')
  const reading = await material.keySet(keys.url, header.kid)
  if (reading.kind === 'missing') {
    return unavailable('key_material_unavailable', `the keys of ${keys.url} are not to be had: ${reading.cause}`)
  }
  const key = pickKey(reading.keys, header.kid)
  if (key === null) return refuse('key_unknown', `${keys.url} has no usable key of the name in the token`)
  const payload = await readSigned(token, key, keys.algorithms)
  if (payload === null) return refuse('signature_mismatch', 'the key that the token names did not sign it')
  return { kind: 'signed', keyId: header.kid, payload }
}

/** `null`: not signed by this key. */
async function readSigned(token: string, key: KeyObject, algorithms: readonly string[]): Promise<Uint8Array | null> {
  try {
    return (await compactVerify(token, key, { algorithms: [...algorithms] })).payload
  } catch {
    return null
  }
}

async function checkAll(request: PushRequest, signed: Signed, now: number, options: JwtOptions) {
  const claims = checkClaims(signed.payload, request.publicUrl, now, options)
  if (claims.kind !== 'claims') return claims
  const bodyHash = options.bodyHashClaim
  const wrong = bodyHash === null ? null : checkBodyHash(claims.values, bodyHash, request.rawBody)
  if (wrong !== null) return wrong
  return { kind: 'verified' as const, keyId: signed.keyId, bodyBound: bodyHash !== null, signedAt: claims.issuedAt }
}
