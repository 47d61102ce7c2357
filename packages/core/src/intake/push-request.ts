/**
 * One HTTP request from a source, as it came off the socket. Nothing here is decoded: a verifier
 * sees the bytes that the sender signed.
 */
export type PushRequest = {
  readonly method: string
  /** The configured public URL of the source, never one rebuilt from `Host`. */
  readonly publicUrl: string | null
  /** Lower-case name → every value in wire order. A repeated header has more than one value. */
  readonly headers: ReadonlyMap<string, readonly string[]>
  readonly rawBody: Buffer
}

/** A key that may have signed a push. Times are epoch milliseconds; a missing bound is open. */
export type SigningKey = {
  readonly id: string
  readonly secret: Buffer
  readonly notBefore?: number
  readonly notAfter?: number
}
