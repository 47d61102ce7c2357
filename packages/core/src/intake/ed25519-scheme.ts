import {
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  sign as signBytes,
  verify as verifyBytes,
} from 'node:crypto'
import { matchKeyBy } from './match-key.js'
import {
  createSignedHeadersScheme,
  type PromptScheme,
  type SignedBytes,
  type SignedHeadersOptions,
} from './signed-headers-scheme.js'

const KEY_BYTES = 32
const SIGNATURE_BYTES = 64

/**
 * ed25519 over the parts. A key holds the 32 bytes of a public key; to sign, the 32 of the private key or the 64 of both
 * halves. A key of another size is never right.
 */
export function createEd25519Scheme(options: SignedHeadersOptions): PromptScheme {
  const publicKeys = new WeakMap<Buffer, KeyObject>()

  function publicKeyOf(secret: Buffer): KeyObject | null {
    const known = publicKeys.get(secret)
    if (known !== undefined) return known
    const made = secret.length === KEY_BYTES ? toPublicKey(secret) : null
    if (made !== null) publicKeys.set(secret, made)
    return made
  }

  return createSignedHeadersScheme(
    { keyEncoding: 'whpk', ...options },
    {
      family: 'ed25519',
      signatureBytes: SIGNATURE_BYTES,
      match: (keys, now, given, bytes) => {
        const signed = join(bytes)
        return matchKeyBy(keys, now, given, ({ secret }) => {
          const key = publicKeyOf(secret)
          let right = false
          for (const signature of given) if (key !== null && verifyBytes(null, signed, key, signature)) right = true
          return right
        })
      },
      sign: (key, bytes) => signBytes(null, join(bytes), toPrivateKey(key.secret)),
    },
  )
}

function join({ before, body, after }: SignedBytes): Buffer {
  return Buffer.concat([Buffer.from(before, 'latin1'), body ?? Buffer.alloc(0), Buffer.from(after, 'latin1')])
}

function toPublicKey(bytes: Buffer): KeyObject | null {
  try {
    return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url') }, format: 'jwk' })
  } catch {
    return null
  }
}

/** PKCS #8 around the 32 bytes, so that the public half need not be known. */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex')

function toPrivateKey(bytes: Buffer): KeyObject {
  if (bytes.length !== KEY_BYTES && bytes.length !== 2 * KEY_BYTES) {
    throw new RangeError('an ed25519 private key has 32 bytes, or 64 with its public half')
  }
  const der = Buffer.concat([PKCS8_HEAD, bytes.subarray(0, KEY_BYTES)])
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
}
