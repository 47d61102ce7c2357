import { timingSafeEqual } from 'node:crypto'
import type { SigningKey } from './push-request.js'
import { type Refusal, refuse, type Unavailable, unavailable } from './verification.js'

export type KeyMatch = { readonly kind: 'matched'; readonly keyId: string } | Refusal | Unavailable

/**
 * The first active key by which one of the `given` signatures is right. Every active key is tried with every signature
 * whatever matched before, so that timing does not tell which one is in use. A key with an empty secret never counts:
 * it would let anybody sign.
 *
 * @param expect the signature that a key makes over this push
 */
export function matchKey(
  keys: readonly SigningKey[],
  now: number,
  given: readonly Buffer[],
  expect: (key: SigningKey) => Buffer,
): KeyMatch {
  return matchKeyBy(keys, now, given, (key) => isAmong(expect(key), given))
}

/** The same for a scheme where a key checks a signature and can't make it. */
export function matchKeyBy(
  keys: readonly SigningKey[],
  now: number,
  given: readonly Buffer[],
  isRight: (key: SigningKey) => boolean,
): KeyMatch {
  let active = 0
  let keyId: string | null = null
  for (const key of keys) {
    if (!isActive(key, now)) continue
    active += 1
    if (isRight(key) && keyId === null) keyId = key.id
  }
  if (active === 0) return unavailable('no_active_key', 'no key of this source is active now')
  if (keyId !== null) return { kind: 'matched', keyId }
  return refuse('signature_mismatch', `tried ${count(active, 'active key')} with ${count(given.length, 'signature')}`)
}

/** Is it one of them? Compared with each in constant time, whatever matched before. */
export function isAmong(expected: Buffer, given: readonly Buffer[]): boolean {
  let right = false
  for (const signature of given) {
    if (expected.length === signature.length && timingSafeEqual(expected, signature)) right = true
  }
  return right
}

/** Is the key in its window, bounds included? `now` in epoch milliseconds. */
export function isActive(key: SigningKey, now: number): boolean {
  if (key.secret.length === 0) return false
  return (key.notBefore === undefined || now >= key.notBefore) && (key.notAfter === undefined || now <= key.notAfter)
}

function count(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? '' : 's'}`
}
