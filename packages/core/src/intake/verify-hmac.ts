import { matchKey } from './match-key.js'
import { readSignature, type SignatureEncoding } from './read-signature.js'
import { checkFreshness, readTimestamp, type TimestampUnit } from './read-timestamp.js'
import type { Verify } from './verification.js'

export type HmacBodyOptions = {
  /** Lower or mixed case; compared case-insensitively. */
  readonly signatureHeader: string
  /** What stands before the signature, such as `sha256=`; compared exactly. Default: nothing. */
  readonly prefix?: string
  /** Default `hex`. */
  readonly encoding?: SignatureEncoding
}

export type HmacTimestampedOptions = HmacBodyOptions & {
  readonly timestampHeader: string
  /** Unit of the timestamp header. Default `s`. */
  readonly timestampUnit?: TimestampUnit
  /** How far the timestamp may be from our clock, either way, boundary included. Default 300,000 ms. */
  readonly toleranceMs?: number
}

export const DEFAULT_TOLERANCE_MS = 300_000

/**
 * HMAC-SHA-256 over `<timestamp>.<raw body>`, with a replay window both ways. Never throws.
 * The signature is judged before the window: "stale" then means that an honest sender or a replay is late (or a clock
 * is off), never that a stranger wrote some number.
 */
export function createHmacTimestampedVerifier(options: HmacTimestampedOptions): Verify {
  const signature = { header: options.signatureHeader.toLowerCase(), ...signatureForm(options) }
  const timestampHeader = options.timestampHeader.toLowerCase()
  const unit = options.timestampUnit ?? 's'
  const toleranceMs = options.toleranceMs ?? DEFAULT_TOLERANCE_MS
  return (request, keys, now) => {
    const given = readSignature(request.headers, signature)
    if (given.kind === 'refused') return given
    const timestamp = readTimestamp(request.headers, timestampHeader, unit)
    if (timestamp.kind === 'refused') return timestamp
    const matched = matchKey(keys, now, given.bytes, [Buffer.from(`${timestamp.text}.`, 'latin1'), request.rawBody])
    if (matched.kind === 'refused') return matched
    const stale = checkFreshness(timestamp.at, now, toleranceMs)
    return stale ?? { kind: 'verified', keyId: matched.keyId, bodyBound: true, signedAt: timestamp.at }
  }
}

/**
 * HMAC-SHA-256 over the raw body. Binds no time and no id: the claim is the only defence against replays.
 * Never throws.
 */
export function createHmacBodyVerifier(options: HmacBodyOptions): Verify {
  const signature = { header: options.signatureHeader.toLowerCase(), ...signatureForm(options) }
  return (request, keys, now) => {
    const given = readSignature(request.headers, signature)
    if (given.kind === 'refused') return given
    const matched = matchKey(keys, now, given.bytes, [request.rawBody])
    if (matched.kind === 'refused') return matched
    return { kind: 'verified', keyId: matched.keyId, bodyBound: true, signedAt: null }
  }
}

function signatureForm(options: HmacBodyOptions): { prefix: string; encoding: SignatureEncoding } {
  return { prefix: options.prefix ?? '', encoding: options.encoding ?? 'hex' }
}
