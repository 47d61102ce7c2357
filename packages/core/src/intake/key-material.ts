import type { JsonWebKey } from 'node:crypto'

/** `cause` is for the log: `timeout`, `http_503`, `too_large`, `cooling_down`… */
export type MaterialMissing = { readonly kind: 'missing'; readonly cause: string }

export type JwkSetReading = { readonly kind: 'found'; readonly keys: readonly JsonWebKey[] } | MaterialMissing

/** PEM. */
export type CertificateReading = { readonly kind: 'found'; readonly pem: string } | MaterialMissing

/**
 * Keys that a sender publishes. Behind this port are the cache, the caps on size and time, and the cooldown; a verifier
 * only says what it needs. What is cached may come at once.
 */
export type KeyMaterial = {
  /**
   * The key set at `url`. A set in the cache without `kid` is fetched anew, at most once per cooldown whoever asks, so
   * that invented key ids can't flood the key server. `found` without that key then means: the issuer has no such key.
   */
  readonly keySet: (url: string, kid: string) => JwkSetReading | Promise<JwkSetReading>
  /** The certificate at `url`, which the verifier has already checked to be the sender's own place. */
  readonly certificate: (url: string) => CertificateReading | Promise<CertificateReading>
}

/** For sources that fetch nothing. */
export const NO_KEY_MATERIAL: KeyMaterial = {
  keySet: () => ({ kind: 'missing', cause: 'nothing_fetched_here' }),
  certificate: () => ({ kind: 'missing', cause: 'nothing_fetched_here' }),
}
