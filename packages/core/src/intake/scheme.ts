import type { SigningKey } from './push-request.js'
import type { Verify } from './verification.js'

/** A push before it is signed. Header names in lower case; the URL as the sender knows it, query included. */
export type UnsignedPush = {
  readonly method: string
  readonly publicUrl: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly rawBody: Buffer
}

/** The same push, signed: most schemes add headers, some a query parameter, one writes into the body. */
export type SignedPush = UnsignedPush

/**
 * Signs as the sender does, for `counterfoil push` and `counterfoil sign`.
 * @param key the secret half: for ed25519 the private key, for tokens of an issuer its private key as PKCS #8
 * @param at what the signature says about its time, epoch ms; ignored where the scheme binds none
 */
export type Sign = (push: UnsignedPush, key: SigningKey, at: number) => SignedPush | Promise<SignedPush>

/** How the text of a configured secret becomes the bytes of a `SigningKey`. See `decodeKey`. */
export type KeyEncoding = 'utf8' | 'base64' | 'hex' | 'whsec' | 'whpk'

/** What a signature covers; whatever it does not, somebody who captured a push can change. */
export type Binds = {
  readonly body: boolean
  /** The delivery id, by a header of its own; an id inside the body is bound with the body. */
  readonly id: boolean
  readonly time: boolean
  readonly url: boolean
}

/** One way to verify, with what configuration and people must know of it. */
export type Scheme = {
  readonly family: 'hmac' | 'ed25519' | 'static_token' | 'twilio' | 'jwt' | 'sns' | 'custom'
  readonly verify: Verify
  /** `null`: we have no way to sign for it. */
  readonly sign: Sign | null
  readonly binds: Binds
  /** How far the signed time may be from our clock; `null` where none is bound or checked. */
  readonly toleranceMs: number | null
  /** Can't be verified without the configured public URL. */
  readonly needsPublicUrl: boolean
  /** `null`: the keys are fetched or public, and a source configures none. */
  readonly keyEncoding: KeyEncoding | null
}
