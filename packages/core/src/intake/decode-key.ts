import type { KeyEncoding } from './scheme.js'

export type DecodedKey =
  | { readonly kind: 'key'; readonly bytes: Buffer }
  /** Says what is wrong, and shows nothing of the secret. */
  | { readonly kind: 'unusable'; readonly why: string }

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const HEX = /^(?:[0-9a-f]{2})*$/i
const PUBLIC_KEY_BYTES = 32
const PREFIXED = /^(whsec|whpk|whsk)_/

/** The bytes that a scheme works with, from the text that a sender's page shows. Strict: a typing error is no key. */
export function decodeKey(text: string, encoding: KeyEncoding): DecodedKey {
  switch (encoding) {
    case 'utf8':
      return { kind: 'key', bytes: Buffer.from(text) }
    case 'hex':
      return HEX.test(text) ? { kind: 'key', bytes: Buffer.from(text, 'hex') } : unusable('is not hex')
    case 'base64':
      return decodeBase64(text, 'is not base64')
    case 'whsec':
      return decodePrefixed(text, 'whsec')
    case 'whpk':
      return decodePublicKey(text)
  }
}

function decodePublicKey(text: string): DecodedKey {
  const decoded = decodePrefixed(text, 'whpk')
  if (decoded.kind === 'unusable' || decoded.bytes.length === PUBLIC_KEY_BYTES) return decoded
  return unusable(`has ${decoded.bytes.length} bytes, an ed25519 public key has ${PUBLIC_KEY_BYTES}`)
}

function decodePrefixed(text: string, wanted: 'whsec' | 'whpk'): DecodedKey {
  if (/^v1a?,/.test(text)) return unusable('begins with a signature version; give what follows the comma')
  const prefix = PREFIXED.exec(text)?.[1]
  if (prefix !== undefined && prefix !== wanted) return unusable(`is a ${prefix}_ key where a ${wanted}_ key belongs`)
  const rest = prefix === undefined ? text : text.slice(prefix.length + 1)
  return decodeBase64(rest, prefix === undefined ? 'is not base64' : `is not base64 after ${prefix}_`)
}

function decodeBase64(text: string, why: string): DecodedKey {
  return BASE64.test(text) ? { kind: 'key', bytes: Buffer.from(text, 'base64') } : unusable(why)
}

function unusable(why: string): DecodedKey {
  return { kind: 'unusable', why }
}
