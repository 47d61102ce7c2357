/** A secret as it is now: read at every use, so that a reloaded one is used by the next request. */
export type SecretReader = () => Buffer

/** How we prove to a destination who we are. Made anew for each request; never part of the frozen bytes. */
export type DestinationAuth =
  | { readonly kind: 'bearer'; readonly token: SecretReader }
  | { readonly kind: 'basic'; readonly user: string; readonly password: SecretReader }
  | HmacAuth
  /** Standard Webhooks: `webhook-id` is the idempotency key; with several keys each signs, so that they can be rotated. */
  | { readonly kind: 'standard_webhooks'; readonly keys: readonly SecretReader[] }
  | OAuth2Auth

/** HMAC over the body, or over `<timestamp>.<body>` where a timestamp header is named. */
export type HmacAuth = {
  readonly kind: 'hmac'
  readonly algorithm: 'sha256' | 'sha512'
  readonly header: string
  readonly prefix: string
  readonly encoding: 'hex' | 'base64'
  /** Carries epoch seconds. */
  readonly timestampHeader: string | null
  readonly key: SecretReader
}

/** OAuth2 client credentials (RFC 6749, 4.4). */
export type OAuth2Auth = {
  readonly kind: 'oauth2'
  readonly tokenUrl: string
  readonly clientId: string
  readonly clientSecret: SecretReader
  readonly scope: string | null
  readonly audience: string | null
  /** Where the client's credentials go: HTTP Basic, or fields of the form. */
  readonly sendAs: 'basic' | 'form'
}

/** PEM: what we show (mutual TLS), and whom we believe instead of the public authorities. */
export type DestinationTls = {
  readonly cert: SecretReader | null
  readonly key: SecretReader | null
  readonly ca: SecretReader | null
}
