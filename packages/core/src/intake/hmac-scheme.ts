import { createHash, createHmac } from 'node:crypto'
import type { SignatureEncoding } from './decode-signature.js'
import { chooseHeaderFamily, type HeaderFamily, type SignatureHeaders, toHeaderFamilies } from './header-family.js'
import { type HeaderGrammar, readSignatures } from './header-grammar.js'
import { matchKey } from './match-key.js'
import type { PushRequest, SigningKey } from './push-request.js'
import { checkFreshness, parseTimestamp, readTimestampText, type TimestampUnit } from './read-timestamp.js'
import type { KeyEncoding, Scheme, SignedPush, UnsignedPush } from './scheme.js'
import { bindsOf, compileParts, readSignedId, type SignedPart, type SignedValues } from './signed-parts.js'
import { type Refusal, type Unavailable, unavailable, type VerifyAtOnce } from './verification.js'

export type HmacOptions = {
  /** Default `sha256`. `sha1` only where a sender has nothing better. */
  readonly algorithm?: 'sha256' | 'sha1'
  /** `secret_prefix`: a plain hash over secret and parts, for senders older than HMAC. Default `hmac`. */
  readonly construction?: 'hmac' | 'secret_prefix'
  /** What is signed, in order. */
  readonly parts: readonly SignedPart[]
  readonly headers: SignatureHeaders | readonly SignatureHeaders[]
  readonly grammar: HeaderGrammar
  /** Default `hex`. */
  readonly encoding?: SignatureEncoding
  /** Default `s`. */
  readonly timestampUnit?: TimestampUnit
  /** How far the signed time may be from our clock, either way, boundary included; `null`: not checked. Default 5 min. */
  readonly toleranceMs?: number | null
  /** What the sender makes of the URL before it signs it. Default: the URL as it is. */
  readonly urlText?: (url: string) => string
  /** Default `utf8`. */
  readonly keyEncoding?: KeyEncoding
}

export const DEFAULT_TOLERANCE_MS = 300_000
const DIGEST_BYTES = { sha256: 32, sha1: 20 } as const

/** An HMAC scheme answers at once and signs at once. */
export type HmacScheme = Omit<Scheme, 'verify' | 'sign'> & {
  readonly verify: VerifyAtOnce
  readonly sign: (push: UnsignedPush, key: SigningKey, at: number) => SignedPush
}

/**
 * Every HMAC scheme is this one with other parameters. The verifier never throws, and judges the signature before the
 * window: "stale" then means that an honest sender or a replay is late (or a clock is off), never that a stranger wrote
 * some number.
 */
export function createHmacScheme(options: HmacOptions): HmacScheme {
  const algorithm = options.algorithm ?? 'sha256'
  const encoding = options.encoding ?? 'hex'
  const form = { encoding, bytes: DIGEST_BYTES[algorithm] }
  const families = toHeaderFamilies(options.headers)
  const parts = compileParts(options.parts)
  const window = {
    signed: options.parts.includes('timestamp'),
    unit: options.timestampUnit ?? 's',
    toleranceMs: options.toleranceMs === undefined ? DEFAULT_TOLERANCE_MS : options.toleranceMs,
  }
  const needsPublicUrl = options.parts.includes('url')
  const urlText = options.urlText ?? ((url: string) => url)
  const digest = options.construction === 'secret_prefix' ? hashWithSecret(algorithm) : hmacWith(algorithm)

  const verify: VerifyAtOnce = (request, keys, now) => {
    const family = chooseHeaderFamily(families, request.headers)
    if ('kind' in family) return family
    const given = readSignatures(request.headers, family.signature, options.grammar, form)
    if (given.kind === 'refused') return given
    const timestamp = readTime(request, family, given.timestamp, window)
    if (timestamp.kind === 'refused') return timestamp
    const values = collectValues(request, family, timestamp.text, parts.separatorAfterId, needsPublicUrl, urlText)
    if (values.kind !== 'values') return values
    const before = parts.before(values)
    const after = parts.after(values)
    const matched = matchKey(keys, now, given.signatures, (key) => digest(key.secret, before, request.rawBody, after))
    if (matched.kind !== 'matched') return matched
    const stale =
      timestamp.at === null || window.toleranceMs === null
        ? null
        : checkFreshness(timestamp.at, now, window.toleranceMs)
    return stale ?? { kind: 'verified', keyId: matched.keyId, bodyBound: parts.hasBody, signedAt: timestamp.at }
  }

  const sign = (push: UnsignedPush, key: SigningKey, at: number): SignedPush => {
    const [family] = families
    const timestamp = writeTime(at, window)
    const values: SignedValues = {
      id: family.id === null ? '' : (push.headers[family.id] ?? ''),
      method: push.method,
      url: push.publicUrl === null ? '' : urlText(push.publicUrl),
      timestamp,
    }
    const signature = digest(key.secret, parts.before(values), push.rawBody, parts.after(values)).toString(encoding)
    const signed = { [family.signature]: writeSignature(options.grammar, signature, timestamp) }
    const dated = family.timestamp === null ? {} : { [family.timestamp]: timestamp }
    return { ...push, headers: { ...push.headers, ...dated, ...signed } }
  }

  return {
    family: 'hmac',
    verify,
    sign,
    binds: bindsOf(options.parts),
    toleranceMs: window.signed ? window.toleranceMs : null,
    needsPublicUrl,
    keyEncoding: options.keyEncoding ?? 'utf8',
  }
}

type Digest = (secret: Buffer, before: string, body: Buffer | null, after: string) => Buffer

/** Texts are Latin-1: headers come so from the socket, and the bytes are what was signed. */
function hmacWith(algorithm: 'sha256' | 'sha1'): Digest {
  return (secret, before, body, after) => {
    const mac = createHmac(algorithm, secret)
    if (before !== '') mac.update(before, 'latin1')
    if (body !== null) mac.update(body)
    if (after !== '') mac.update(after, 'latin1')
    return mac.digest()
  }
}

function hashWithSecret(algorithm: 'sha256' | 'sha1'): Digest {
  return (secret, before, body, after) => {
    const hash = createHash(algorithm).update(secret).update(before, 'latin1')
    if (body !== null) hash.update(body)
    return hash.update(after, 'latin1').digest()
  }
}

type Window = { readonly signed: boolean; readonly unit: TimestampUnit; readonly toleranceMs: number | null }
type Time = { readonly kind: 'time'; readonly text: string; readonly at: number | null }
const NO_TIME: Time = { kind: 'time', text: '', at: null }

/** Without a tolerance the text only has to be the one that was signed, whatever it says. */
function readTime(
  request: PushRequest,
  family: HeaderFamily,
  inSignature: string | null,
  window: Window,
): Time | Refusal {
  if (!window.signed) return NO_TIME
  const read =
    family.timestamp === null
      ? ({ kind: 'text', text: inSignature ?? '' } as const)
      : readTimestampText(request.headers, family.timestamp)
  if (read.kind === 'refused') return read
  if (window.toleranceMs === null) return { kind: 'time', text: read.text, at: null }
  const where = family.timestamp === null ? `the timestamp in ${family.signature}` : `header ${family.timestamp}`
  const at = parseTimestamp(read.text, window.unit, where)
  return typeof at === 'number' ? { kind: 'time', text: read.text, at } : at
}

function writeTime(at: number, window: Window): string {
  if (!window.signed) return ''
  if (window.unit === 'iso') return new Date(at).toISOString()
  return String(window.unit === 'ms' ? Math.floor(at) : Math.floor(at / 1000))
}

function collectValues(
  request: PushRequest,
  family: HeaderFamily,
  timestamp: string,
  separatorAfterId: string | null,
  needsPublicUrl: boolean,
  urlText: (url: string) => string,
): (SignedValues & { readonly kind: 'values' }) | Refusal | Unavailable {
  if (needsPublicUrl && request.publicUrl === null) {
    return unavailable('public_url_missing', 'the signature covers the URL, and this source has no publicUrl')
  }
  const id = family.id === null ? '' : readSignedId(request.headers, family.id, separatorAfterId)
  if (typeof id !== 'string') return id
  const url = needsPublicUrl ? urlText(request.publicUrl ?? '') : ''
  return { kind: 'values', id, method: request.method, url, timestamp }
}

function writeSignature(grammar: HeaderGrammar, signature: string, timestamp: string): string {
  if (grammar.kind !== 'pairs') return `${grammar.prefix}${signature}`
  const dated = grammar.timestamp === null ? '' : `${grammar.timestamp}=${timestamp}${grammar.separator}`
  return `${dated}${grammar.signature}=${signature}`
}
