import { createHash, timingSafeEqual } from 'node:crypto'
import { type Refusal, refuse, type Unavailable, unavailable } from '@counterfoil/core'

/** One of `names` must be one of `values`, exactly. */
export type ClaimRule = { readonly names: readonly string[]; readonly values: readonly (string | boolean)[] }

export type ClaimRules = {
  readonly issuers: readonly string[]
  /** Exact and alone: a token for several audiences is one that another of them can send here. */
  readonly audience: readonly string[] | 'public_url' | null
  readonly subject: 'public_url' | null
  readonly required: readonly ClaimRule[]
  /** The claim with the base64url of the body's SHA-256. */
  readonly bodyHashClaim: string | null
  /** How far `exp` and `nbf` may be off. */
  readonly clockToleranceMs: number
}

export type Claims = {
  readonly kind: 'claims'
  readonly values: Readonly<Record<string, unknown>>
  /** Epoch ms. */
  readonly issuedAt: number | null
}

/** Judges the claims of a token whose signature is right. Hints name claims, never what they say. */
export function checkClaims(
  payload: Uint8Array,
  publicUrl: string | null,
  now: number,
  rules: ClaimRules,
): Claims | Refusal | Unavailable {
  const values = parseClaims(payload)
  if (values === null) return refuse('token_malformed', 'the token holds no JSON object')
  const times = checkTimes(values, now, rules.clockToleranceMs)
  if (times !== null) return times
  if (!isOneOf(values, ['iss'], rules.issuers)) return refuse('token_claim', 'iss is not the expected issuer')
  if ((rules.audience === 'public_url' || rules.subject === 'public_url') && publicUrl === null) {
    return unavailable('public_url_missing', 'the token names the URL, and this source has no publicUrl')
  }
  const audience = rules.audience === 'public_url' ? [publicUrl ?? ''] : rules.audience
  if (audience !== null && !isOneOf(values, ['aud'], audience)) {
    return refuse('token_claim', 'aud is not exactly the expected audience')
  }
  if (rules.subject === 'public_url' && !isOneOf(values, ['sub'], [publicUrl ?? ''])) {
    return refuse('token_claim', 'sub is another URL than the publicUrl of this source with the query of the request')
  }
  for (const rule of rules.required) {
    if (!isOneOf(values, rule.names, rule.values)) {
      return refuse('token_claim', `${rule.names.join(' or ')} is not what this source expects`)
    }
  }
  const issuedAt = readSeconds(values, 'iat')
  return { kind: 'claims', values, issuedAt: issuedAt === null ? null : issuedAt * 1000 }
}

/** `null`: the claim holds the hash of exactly these bytes. Padding, which some senders leave, says nothing. */
export function checkBodyHash(
  values: Readonly<Record<string, unknown>>,
  claim: string,
  rawBody: Buffer,
): Refusal | null {
  const text = own(values, claim)
  if (typeof text !== 'string' || text === '') return refuse('body_hash_missing', `the token has no claim ${claim}`)
  const given = Buffer.from(text, 'base64url')
  const digest = createHash('sha256').update(rawBody).digest()
  const isExact = given.toString('base64url') === text.replace(/={1,2}$/, '') && given.length === digest.length
  if (isExact && timingSafeEqual(given, digest)) return null
  return refuse('body_hash_mismatch', `claim ${claim} is not the hash of the body`)
}

function checkTimes(values: Readonly<Record<string, unknown>>, now: number, toleranceMs: number): Refusal | null {
  const expiresAt = readSeconds(values, 'exp')
  if (expiresAt === null) return refuse('token_claim', 'exp is absent or no number')
  if (now >= expiresAt * 1000 + toleranceMs) {
    const signedAt = (readSeconds(values, 'iat') ?? expiresAt - 1) * 1000
    return { ...refuse('token_expired', `exp was ${seconds(now - expiresAt * 1000)} ago`), signedAt }
  }
  for (const claim of ['nbf', 'iat']) {
    const at = readSeconds(values, claim)
    if (at === null) {
      if (own(values, claim) !== undefined) return refuse('token_claim', `${claim} is no number`)
    } else if (at * 1000 - now > toleranceMs) {
      const hint = `${claim} is ${seconds(at * 1000 - now)} ahead of our clock`
      return { ...refuse('token_not_yet_valid', hint), signedAt: at * 1000 }
    }
  }
  return null
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`
}

function parseClaims(payload: Uint8Array): Readonly<Record<string, unknown>> | null {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(payload).toString('utf8'))
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
      ? (parsed as Readonly<Record<string, unknown>>)
      : null
  } catch {
    return null
  }
}

function isOneOf(
  values: Readonly<Record<string, unknown>>,
  names: readonly string[],
  expected: readonly (string | boolean)[],
): boolean {
  return names.some((name) => (expected as readonly unknown[]).includes(own(values, name)))
}

function readSeconds(values: Readonly<Record<string, unknown>>, name: string): number | null {
  const value = own(values, name)
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

function own(values: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(values, name) ? values[name] : undefined
}
