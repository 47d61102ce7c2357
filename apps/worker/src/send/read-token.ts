import { parseJson, readPointer } from '@counterfoil/core'

export type TokenReading =
  /** `livesMs` is what the endpoint said; `null`: it did not say. */
  | { readonly kind: 'token'; readonly token: string; readonly livesMs: number | null }
  /** `why` names no secret and quotes nothing of the answer. */
  | { readonly kind: 'failed'; readonly why: string }

/** RFC 6750, 2.1. */
const BEARER_TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/
const MAX_TOKEN_LENGTH = 16_384
const MAX_LIFE_S = 30 * 86_400

/** What a token endpoint's answer gives us (RFC 6749, 5.1). */
export function readToken(status: number, body: Buffer): TokenReading {
  if (status !== 200) return failed(`the token endpoint answered ${status}`)
  const parsed = parseJson(body)
  if (parsed.kind === 'invalid') return failed('the token endpoint answered 200 without JSON')
  const token = readPointer(parsed.value, '/access_token')
  if (typeof token !== 'string' || token.length > MAX_TOKEN_LENGTH || !BEARER_TOKEN.test(token)) {
    return failed('the token endpoint answered 200 without a usable access_token')
  }
  const type = readPointer(parsed.value, '/token_type')
  if (typeof type === 'string' && type.toLowerCase() !== 'bearer') {
    return failed('the token endpoint gave a token that is no bearer token')
  }
  return { kind: 'token', token, livesMs: readLife(readPointer(parsed.value, '/expires_in')) }
}

/** Some write the number as text. */
function readLife(value: unknown): number | null {
  const seconds = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value
  if (typeof seconds !== 'number' || !Number.isFinite(seconds) || seconds < 0) return null
  return Math.min(seconds, MAX_LIFE_S) * 1_000
}

function failed(why: string): TokenReading {
  return { kind: 'failed', why }
}
