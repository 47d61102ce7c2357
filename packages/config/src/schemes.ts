import type { Scheme, SignatureEncoding, TimestampUnit } from '@counterfoil/core'
import type { Duration } from './duration.js'

export type HmacBody = {
  readonly signatureHeader: string
  /** What stands before the signature, such as `sha256=`. Default: nothing. */
  readonly prefix?: string
  /** Default `hex`. */
  readonly encoding?: SignatureEncoding
}

export type HmacTimestamped = HmacBody & {
  readonly timestampHeader: string
  /** Unit of the timestamp. Default `s`. */
  readonly timestampUnit?: TimestampUnit
  /** How far the timestamp may be from our clock, either way. Default `5m`. */
  readonly tolerance?: Duration
}

export type SchemeDefinition =
  | ({ readonly scheme: 'hmac_timestamped' } & HmacTimestamped)
  | ({ readonly scheme: 'hmac_body' } & HmacBody)
  /** What `hmac`, `ed25519` or `staticToken` makes, or a scheme of your own. */
  | Scheme

/** HMAC-SHA-256 over `<timestamp>.<raw body>`, with a replay window both ways. */
export function hmacTimestamped(options: HmacTimestamped): SchemeDefinition {
  return { scheme: 'hmac_timestamped', ...options }
}

/** HMAC-SHA-256 over the raw body. Binds no time: consider `maxAge` by a field of the signed body. */
export function hmacBody(options: HmacBody): SchemeDefinition {
  return { scheme: 'hmac_body', ...options }
}

/** HMAC over whatever parts of a request, with whatever headers: every other HMAC scheme is this one. */
/** The same with ed25519 public keys. */
/** A secret that every push carries as it is, in a header, in the query or as HTTP Basic. */
export {
  createEd25519Scheme as ed25519,
  createHmacScheme as hmac,
  createStaticTokenScheme as staticToken,
} from '@counterfoil/core'
