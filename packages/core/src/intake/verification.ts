import type { KeyMaterial } from './key-material.js'
import type { PushRequest, SigningKey } from './push-request.js'

/** Why a push was not believed: answered 401 unless the source says otherwise. For the log, never for the sender. */
export type RefusedCause =
  | 'signature_missing'
  | 'signature_repeated'
  | 'signature_malformed'
  | 'signature_mismatch'
  /** Signed in a version or with an algorithm that this source does not take. */
  | 'signature_version_unknown'
  /** Header names of two families that say different things. */
  | 'headers_mixed'
  | 'timestamp_missing'
  | 'timestamp_repeated'
  | 'timestamp_malformed'
  | 'timestamp_stale'
  | 'timestamp_in_future'
  /** The id that the signature covers. */
  | 'signed_id_missing'
  | 'signed_id_malformed'
  /** The hash of the body that the signature covers. */
  | 'body_hash_missing'
  | 'body_hash_mismatch'
  | 'token_missing'
  | 'token_repeated'
  | 'token_malformed'
  | 'token_mismatch'
  /** A claim of a token: audience, issuer, subject, e-mail or authorised party. */
  | 'token_claim'
  | 'token_expired'
  | 'token_not_yet_valid'
  /** The key that it names is in no set of the issuer. */
  | 'key_unknown'
  | 'certificate_url_refused'
  | 'certificate_expired'
  | 'certificate_not_yet_valid'
  | 'topic_not_allowed'
  | 'envelope_malformed'

/** Why we can't judge now: our own fault or that of a key server, answered 503 and never 401. */
export type UnavailableCause =
  | 'no_active_key'
  | 'public_url_missing'
  /** Fetched keys that were not to be had in time. */
  | 'key_material_unavailable'

export type Verified = {
  readonly kind: 'verified'
  /** Which key: its configured id, the `kid` of a token, or the name of a certificate. */
  readonly keyId: string
  /** Does the signature cover the content? Where not, it only says who sent it. */
  readonly bodyBound: boolean
  /** Epoch milliseconds that the signature binds, when the scheme has such a time. */
  readonly signedAt: number | null
}

/** `hint` says what to look at; it never holds a signature, a secret or a part of the payload. */
export type Refusal = {
  readonly kind: 'refused'
  readonly cause: RefusedCause
  readonly hint: string
  /** Epoch ms; only where the signature is right and nothing but the clock speaks against it. */
  readonly signedAt?: number
}

export type Unavailable = { readonly kind: 'unavailable'; readonly cause: UnavailableCause; readonly hint: string }

export type Verification = Verified | Refusal | Unavailable

/**
 * A verifier is pure: the clock, the keys and a port to fetched keys are passed in. Those that need no fetched key
 * answer at once; a promise is for the others, so that the hot path never waits for a microtask it does not need.
 */
export type Verify = (
  request: PushRequest,
  keys: readonly SigningKey[],
  now: number,
  material: KeyMaterial,
) => Verification | Promise<Verification>

/** A `Verify` that always answers at once and fetches nothing. */
export type VerifyAtOnce = (request: PushRequest, keys: readonly SigningKey[], now: number) => Verification

export function refuse(cause: RefusedCause, hint: string): Refusal {
  return { kind: 'refused', cause, hint }
}

export function unavailable(cause: UnavailableCause, hint: string): Unavailable {
  return { kind: 'unavailable', cause, hint }
}
