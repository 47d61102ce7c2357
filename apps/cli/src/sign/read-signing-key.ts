import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import { decodeKey, type SigningKey } from '@counterfoil/core'
import type { Preset } from '@counterfoil/sources'
import type { KeyText } from '../signature/read-key.js'
import { CommandFailure } from '../terminal/command-failure.js'
import { EXIT } from '../terminal/exit-codes.js'

/** What signs, and what a receiver would have to know to believe it. */
export type SigningPair = {
  readonly key: SigningKey
  /** Keys to verify with; `null`: those of the source. */
  readonly verifyWith: readonly SigningKey[] | null
  /** The public half, where a receiver fetches it. */
  readonly published: JsonWebKey | null
}

const DEFAULT_KEY_ID = 'counterfoil-test'
const ED25519_BYTES = [32, 64]

/** The key of a preset from its secret: shared, or the private half of an ed25519 pair (`whsk_…` or base64). */
export function toSigningPair({ name, scheme }: Preset, { id, text }: KeyText): SigningPair {
  if (scheme.keyEncoding === null)
    throw usage(`${name} is signed with a private key`, 'name its file with --private-key')
  if (scheme.family === 'ed25519') {
    const decoded = decodeKey(text.replace(/^whsk_/, ''), 'base64')
    if (decoded.kind === 'key' && ED25519_BYTES.includes(decoded.bytes.length)) {
      return toEd25519Pair(id, toEd25519Key(decoded.bytes.subarray(0, 32)))
    }
    throw usage(
      `${name} is signed with an ed25519 private key`,
      'give whsk_ and its base64, or a PEM with --private-key',
    )
  }
  const decoded = decodeKey(text, scheme.keyEncoding)
  if (decoded.kind === 'unusable') throw usage(`the secret ${decoded.why}`)
  const key = { id, secret: decoded.bytes }
  return { key, verifyWith: [key], published: null }
}

/** A private key in PEM: ed25519 for a configured public half, RSA for senders whose keys are fetched. */
export function readPrivateKey(pem: Buffer, id: string | null): SigningPair {
  const key = parsePrivateKey(pem)
  if (key.asymmetricKeyType === 'ed25519') return toEd25519Pair(id ?? DEFAULT_KEY_ID, key)
  if (key.asymmetricKeyType !== 'rsa') throw usage('--private-key is neither an RSA nor an ed25519 key')
  const kid = id ?? DEFAULT_KEY_ID
  const secret = Buffer.from(key.export({ format: 'pem', type: 'pkcs8' }))
  const published = { ...createPublicKey(key).export({ format: 'jwk' }), kid, use: 'sig', alg: 'RS256' }
  return { key: { id: kid, secret }, verifyWith: null, published }
}

function parsePrivateKey(pem: Buffer): KeyObject {
  try {
    return createPrivateKey(pem)
  } catch {
    throw usage('--private-key is no private key in PEM, or it has a passphrase')
  }
}

function toEd25519Pair(id: string, key: KeyObject): SigningPair {
  const { d = '', x = '' } = key.export({ format: 'jwk' })
  return {
    key: { id, secret: Buffer.from(d, 'base64url') },
    verifyWith: [{ id, secret: Buffer.from(x, 'base64url') }],
    published: null,
  }
}

/** PKCS #8 around the 32 bytes (RFC 8410), from which the public half follows. */
function toEd25519Key(seed: Buffer): KeyObject {
  const head = Buffer.from('302e020100300506032b657004220420', 'hex')
  return createPrivateKey({ key: Buffer.concat([head, seed]), format: 'der', type: 'pkcs8' })
}

function usage(what: string, next: string | null = null): CommandFailure {
  return new CommandFailure(EXIT.usage, what, next)
}
