/**
 * One HTTP request from a source, as it came off the socket. Nothing here is decoded: a verifier
 * sees the bytes that the sender signed.
 */
export type PushRequest = {
  readonly method: string
  /**
   * The URL that the sender was given: the source's configured public URL, never one rebuilt from `Host`, with the
   * query of this request (which the configuration can't know). `null` where none is configured.
   */
  readonly publicUrl: string | null
  /** The raw query of this request, `?` included; empty when there is none. */
  readonly query: string
  /** Lower-case name → every value in wire order. A repeated header has more than one value. */
  readonly headers: ReadonlyMap<string, readonly string[]>
  readonly rawBody: Buffer
}

/**
 * A key that may have signed a push. `secret` holds what the scheme works with: an HMAC key, a token, or the 32 bytes of
 * an ed25519 public key. Times are epoch milliseconds; a missing bound is open.
 */
export type SigningKey = {
  readonly id: string
  readonly secret: Buffer
  readonly notBefore?: number
  readonly notAfter?: number
}
