import type { PushRequest, SigningKey } from './push-request.js'

/** Why a push was not believed. Every cause is answered 401; the text goes to the log, never to the sender. */
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

export type Verification =
  | {
      readonly kind: 'verified'
      readonly keyId: string
      readonly bodyBound: boolean
      /** Epoch milliseconds that the signature binds, when the scheme has such a time. */
      readonly signedAt: number | null
    }
  | { readonly kind: 'refused'; readonly cause: RefusedCause; readonly hint: string }

/** A verifier is pure: the clock and the keys are passed in, and equal input gives an equal verdict. */
export type Verify = (request: PushRequest, keys: readonly SigningKey[], now: number) => Verification
