import type { PushRequest } from './push-request.js'
import type { Verified } from './verification.js'

/**
 * What a sender wants to hear once before it sends: never a delivery, never stored, counted and logged under `name`.
 */
export type HandshakeAnswer = {
  /** Such as `url_verification`; a constant, never a text of the sender's. */
  readonly name: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
  /**
   * Visited (GET, no redirects, capped) before the answer goes out, where consent means that; when that fails the
   * answer is 503 and the sender asks again. The handshake has checked whose URL it is.
   */
  readonly confirm?: { readonly url: string }
}

export type HandshakeInput = {
  readonly request: PushRequest
  /** `null` before verification. */
  readonly verified: Verified | null
  /** The decoded body; `undefined` before verification, or when it can't be decoded. */
  readonly document: unknown
}

export type Handshake = {
  /**
   * `before_verification`: by the request line and headers alone, with no body read; for methods other than POST only.
   * `after_verification`: a push whose signature is right.
   */
  readonly when: 'before_verification' | 'after_verification'
  readonly methods: readonly string[]
  /** `null`: this is no handshake, go on. */
  readonly answer: (input: HandshakeInput) => HandshakeAnswer | null
}
