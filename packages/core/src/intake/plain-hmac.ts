import type { SignatureEncoding } from './decode-signature.js'
import { createHmacScheme } from './hmac-scheme.js'
import type { TimestampUnit } from './read-timestamp.js'
import type { PromptScheme } from './signed-headers-scheme.js'

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

/** HMAC-SHA-256 over `<timestamp>.<raw body>`, with a replay window both ways. */
export function createHmacTimestamped(options: HmacTimestampedOptions): PromptScheme {
  return createHmacScheme({
    parts: ['timestamp', { text: '.' }, 'body'],
    headers: { signature: options.signatureHeader, timestamp: options.timestampHeader },
    ...formOf(options),
    ...(options.timestampUnit === undefined ? {} : { timestampUnit: options.timestampUnit }),
    ...(options.toleranceMs === undefined ? {} : { toleranceMs: options.toleranceMs }),
  })
}

/** HMAC-SHA-256 over the raw body. Binds no time and no id: the claim is the only defence against replays. */
export function createHmacBody(options: HmacBodyOptions): PromptScheme {
  return createHmacScheme({ parts: ['body'], headers: { signature: options.signatureHeader }, ...formOf(options) })
}

function formOf(options: HmacBodyOptions) {
  return {
    grammar: { kind: 'single' as const, prefix: options.prefix ?? '' },
    encoding: options.encoding ?? ('hex' as const),
  }
}
