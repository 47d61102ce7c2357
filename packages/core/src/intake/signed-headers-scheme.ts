import type { SignatureEncoding } from './decode-signature.js'
import { chooseHeaderFamily, type HeaderFamily, type SignatureHeaders, toHeaderFamilies } from './header-family.js'
import { type HeaderGrammar, readSignatures } from './header-grammar.js'
import type { KeyMatch } from './match-key.js'
import type { PushRequest, SigningKey } from './push-request.js'
import { checkFreshness, parseTimestamp, readTimestampText, type TimestampUnit } from './read-timestamp.js'
import type { KeyEncoding, Scheme, SignedPush, UnsignedPush } from './scheme.js'
import { bindsOf, compileParts, readSignedId, type SignedPart, type SignedValues } from './signed-parts.js'
import { type Refusal, type Unavailable, unavailable, type VerifyAtOnce } from './verification.js'

/** What is signed, and how the signature travels. */
export type SignedHeadersOptions = {
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

/** Texts around the body as Latin-1: headers come so from the socket, and those bytes are what was signed. */
export type SignedBytes = { readonly before: string; readonly body: Buffer | null; readonly after: string }

/** The cryptography of a scheme. */
export type Signer = {
  readonly family: Scheme['family']
  readonly signatureBytes: number
  readonly match: (keys: readonly SigningKey[], now: number, given: readonly Buffer[], bytes: SignedBytes) => KeyMatch
  readonly sign: (key: SigningKey, bytes: SignedBytes) => Buffer
}

/** A scheme that answers at once and signs at once. */
export type PromptScheme = Omit<Scheme, 'verify' | 'sign'> & {
  readonly verify: VerifyAtOnce
  readonly sign: (push: UnsignedPush, key: SigningKey, at: number) => SignedPush
}

/**
 * Signatures in headers over parts of the request. The verifier never throws, and judges the signature before the
 * window: "stale" then means that an honest sender or a replay is late (or a clock is off), never that a stranger wrote
 * some number.
 */
export function createSignedHeadersScheme(options: SignedHeadersOptions, signer: Signer): PromptScheme {
  const frame = readOptions(options)
  const form = { encoding: frame.encoding, bytes: signer.signatureBytes }

  const verify: VerifyAtOnce = (request, keys, now) => {
    const family = chooseHeaderFamily(frame.families, request.headers)
    if ('kind' in family) return family
    const given = readSignatures(request.headers, family.signature, options.grammar, form)
    if (given.kind === 'refused') return given
    const timestamp = readTime(request, family, given.timestamp, frame)
    if (timestamp.kind === 'refused') return timestamp
    const values = collectValues(request, family, timestamp.text, frame)
    if (values.kind !== 'values') return values
    const matched = signer.match(keys, now, given.signatures, toBytes(frame, values, request.rawBody))
    if (matched.kind !== 'matched') return matched
    const { at } = timestamp
    const stale = at === null || frame.toleranceMs === null ? null : checkFreshness(at, now, frame.toleranceMs)
    return stale ?? { kind: 'verified', keyId: matched.keyId, bodyBound: frame.parts.hasBody, signedAt: at }
  }

  const sign = (push: UnsignedPush, key: SigningKey, at: number): SignedPush => {
    const [family] = frame.families
    const timestamp = writeTime(at, frame)
    const values: SignedValues = {
      id: family.id === null ? '' : (push.headers[family.id] ?? ''),
      method: push.method,
      url: push.publicUrl === null ? '' : frame.urlText(push.publicUrl),
      timestamp,
    }
    const signature = signer.sign(key, toBytes(frame, values, push.rawBody)).toString(frame.encoding)
    const signed = { [family.signature]: writeSignature(options.grammar, signature, timestamp) }
    const dated = family.timestamp === null ? {} : { [family.timestamp]: timestamp }
    return { ...push, headers: { ...push.headers, ...dated, ...signed } }
  }

  return {
    family: signer.family,
    verify,
    sign,
    binds: bindsOf(options.parts),
    toleranceMs: frame.timed ? frame.toleranceMs : null,
    needsPublicUrl: frame.needsPublicUrl,
    keyEncoding: options.keyEncoding ?? 'utf8',
  }
}

type Frame = ReturnType<typeof readOptions>

function readOptions(options: SignedHeadersOptions) {
  return {
    families: toHeaderFamilies(options.headers),
    parts: compileParts(options.parts),
    encoding: options.encoding ?? ('hex' as const),
    timed: options.parts.includes('timestamp'),
    unit: options.timestampUnit ?? ('s' as const),
    toleranceMs: options.toleranceMs === undefined ? DEFAULT_TOLERANCE_MS : options.toleranceMs,
    needsPublicUrl: options.parts.includes('url'),
    urlText: options.urlText ?? ((url: string) => url),
  }
}

function toBytes(frame: Frame, values: SignedValues, rawBody: Buffer): SignedBytes {
  const { before, after, hasBody } = frame.parts
  return { before: before(values), body: hasBody ? rawBody : null, after: after(values) }
}

type Time = { readonly kind: 'time'; readonly text: string; readonly at: number | null }
const NO_TIME: Time = { kind: 'time', text: '', at: null }

/** Without a tolerance the text only has to be the one that was signed, whatever it says. */
function readTime(
  request: PushRequest,
  family: HeaderFamily,
  inSignature: string | null,
  frame: Frame,
): Time | Refusal {
  if (!frame.timed) return NO_TIME
  const read =
    family.timestamp === null
      ? ({ kind: 'text', text: inSignature ?? '' } as const)
      : readTimestampText(request.headers, family.timestamp)
  if (read.kind === 'refused') return read
  if (frame.toleranceMs === null) return { kind: 'time', text: read.text, at: null }
  const where = family.timestamp === null ? `the timestamp in ${family.signature}` : `header ${family.timestamp}`
  const at = parseTimestamp(read.text, frame.unit, where)
  return typeof at === 'number' ? { kind: 'time', text: read.text, at } : at
}

function writeTime(at: number, frame: Frame): string {
  if (!frame.timed) return ''
  if (frame.unit === 'iso') return new Date(at).toISOString()
  return String(frame.unit === 'ms' ? Math.floor(at) : Math.floor(at / 1000))
}

function collectValues(
  request: PushRequest,
  family: HeaderFamily,
  timestamp: string,
  frame: Frame,
): (SignedValues & { readonly kind: 'values' }) | Refusal | Unavailable {
  if (frame.needsPublicUrl && request.publicUrl === null) {
    return unavailable('public_url_missing', 'the signature covers the URL, and this source has no publicUrl')
  }
  const id = family.id === null ? '' : readSignedId(request.headers, family.id, frame.parts.separatorAfterId)
  if (typeof id !== 'string') return id
  const url = frame.needsPublicUrl ? frame.urlText(request.publicUrl ?? '') : ''
  return { kind: 'values', id, method: request.method, url, timestamp }
}

function writeSignature(grammar: HeaderGrammar, signature: string, timestamp: string): string {
  if (grammar.kind !== 'pairs') return `${grammar.prefix}${signature}`
  const dated = grammar.timestamp === null ? '' : `${grammar.timestamp}=${timestamp}${grammar.separator}`
  return `${dated}${grammar.signature}=${signature}`
}
