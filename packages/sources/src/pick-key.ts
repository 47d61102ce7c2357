import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto'

/**
 * The public key of a set by its name. Only RSA and elliptic keys count: a symmetric one in a published set would let
 * anybody sign. Keys are imported once for as long as their set is kept.
 */
export function createKeyPicker(): (keys: readonly JsonWebKey[], kid: string) => KeyObject | null {
  const imported = new WeakMap<JsonWebKey, KeyObject>()
  return (keys, kid) => {
    const jwk = keys.find((key) => key.kid === kid && (key.kty === 'RSA' || key.kty === 'EC') && key.use !== 'enc')
    if (jwk === undefined) return null
    const known = imported.get(jwk)
    if (known !== undefined) return known
    const made = importKey(jwk)
    if (made !== null) imported.set(jwk, made)
    return made
  }
}

function importKey(jwk: JsonWebKey): KeyObject | null {
  try {
    return createPublicKey({ key: jwk, format: 'jwk' })
  } catch {
    return null
  }
}
