import { createHmac, timingSafeEqual } from 'node:crypto'
import type { SigningKey } from './push-request.js'
import type { Refusal } from './verification.js'

/**
 * The first active key whose HMAC-SHA-256 over `parts` equals `given`. Every active key is tried whatever matched
 * before, so that timing does not tell which one is in use. A key with an empty secret never counts: it would let
 * anybody sign.
 */
export function matchKey(
  keys: readonly SigningKey[],
  now: number,
  given: Buffer,
  parts: readonly Buffer[],
): { readonly kind: 'matched'; readonly keyId: string } | Refusal {
  let active = 0
  let keyId: string | null = null
  for (const key of keys) {
    if (!isActive(key, now)) continue
    active += 1
    const mac = createHmac('sha256', key.secret)
    for (const part of parts) mac.update(part)
    const expected = mac.digest()
    const equal = expected.length === given.length && timingSafeEqual(expected, given)
    if (equal && keyId === null) keyId = key.id
  }
  if (active === 0) return { kind: 'refused', cause: 'no_active_key', hint: 'no key of this source is active now' }
  if (keyId === null) {
    return {
      kind: 'refused',
      cause: 'signature_mismatch',
      hint: `tried ${active} active key${active === 1 ? '' : 's'}`,
    }
  }
  return { kind: 'matched', keyId }
}

/** Is the key in its window, bounds included? `now` in epoch milliseconds. */
export function isActive(key: SigningKey, now: number): boolean {
  if (key.secret.length === 0) return false
  return (key.notBefore === undefined || now >= key.notBefore) && (key.notAfter === undefined || now <= key.notAfter)
}
