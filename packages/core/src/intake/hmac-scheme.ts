import { createHash, createHmac } from 'node:crypto'
import { matchKey } from './match-key.js'
import {
  createSignedHeadersScheme,
  type PromptScheme,
  type SignedBytes,
  type SignedHeadersOptions,
} from './signed-headers-scheme.js'

export type HmacOptions = SignedHeadersOptions & {
  /** Default `sha256`. `sha1` only where a sender has nothing better. */
  readonly algorithm?: 'sha256' | 'sha1'
  /** `secret_prefix`: a plain hash over secret and parts, for senders older than HMAC. Default `hmac`. */
  readonly construction?: 'hmac' | 'secret_prefix'
}

const DIGEST_BYTES = { sha256: 32, sha1: 20 } as const

/** Every HMAC scheme is this one with other parameters. */
export function createHmacScheme(options: HmacOptions): PromptScheme {
  const algorithm = options.algorithm ?? 'sha256'
  const digest = options.construction === 'secret_prefix' ? hashWithSecret(algorithm) : hmacWith(algorithm)
  return createSignedHeadersScheme(options, {
    family: 'hmac',
    signatureBytes: DIGEST_BYTES[algorithm],
    match: (keys, now, given, bytes) => matchKey(keys, now, given, (key) => digest(key.secret, bytes)),
    sign: (key, bytes) => digest(key.secret, bytes),
  })
}

type Digest = (secret: Buffer, bytes: SignedBytes) => Buffer

function hmacWith(algorithm: 'sha256' | 'sha1'): Digest {
  return (secret, { before, body, after }) => {
    const mac = createHmac(algorithm, secret)
    if (before !== '') mac.update(before, 'latin1')
    if (body !== null) mac.update(body)
    if (after !== '') mac.update(after, 'latin1')
    return mac.digest()
  }
}

function hashWithSecret(algorithm: 'sha256' | 'sha1'): Digest {
  return (secret, { before, body, after }) => {
    const hash = createHash(algorithm).update(secret).update(before, 'latin1')
    if (body !== null) hash.update(body)
    return hash.update(after, 'latin1').digest()
  }
}
