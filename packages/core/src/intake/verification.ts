import type { PushRequest, SigningKey } from './push-request.js'

/**
 * Why a push was not believed. Answered 401; only `no_active_key` is our own fault and answered 503. The text goes to
 * the log, never to the sender.
 */
export type RefusedCause =
  | 'signature_missing'
  | 'signature_repeated'
  | 'signature_malformed'
  | 'signature_mismatch'
  | 'timestamp_missing'
  | 'timestamp_repeated'
  | 'timestamp_malformed'
  | 'timestamp_stale'
  | 'timestamp_in_future'
  | 'no_active_key'

export type Verified = {
  readonly kind: 'verified'
  readonly keyId: string
  readonly bodyBound: boolean
  /** Epoch milliseconds that the signature binds, when the scheme has such a time. */
  readonly signedAt: number | null
}

/** `hint` says what to look at; it never holds a signature, a secret or a part of the payload. */
export type Refusal = { readonly kind: 'refused'; readonly cause: RefusedCause; readonly hint: string }

export type Verification = Verified | Refusal

/** A verifier is pure: the clock and the keys are passed in, and equal input gives an equal verdict. */
export type Verify = (request: PushRequest, keys: readonly SigningKey[], now: number) => Verification
