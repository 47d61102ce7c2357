/**
 * Statuses that refuse. No success is among them, since success is for what is committed (I1), and neither is 410, on
 * which senders disable endpoints. A redirect would turn a POST into a GET.
 */
export type RefusalStatus = 400 | 401 | 403 | 404 | 409 | 413 | 415 | 422 | 429 | 489 | 500 | 502 | 503

export type RefusalAnswer = {
  readonly status: RefusalStatus
  /** On top of our own, such as `upstash-nonretryable-error: true`. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Our own fault is 503 at every sender: some of them drop a message on anything in the 4xx. */
export type LaterAnswer = { readonly headers: Readonly<Record<string, string>> }

/**
 * By what became of a push; what is absent is answered as usual. A conflict is refused with `conflict` only where the
 * source refuses conflicts at all, and a malformed push with `malformed` only where it is not quarantined.
 */
export type AnswerOverrides = {
  /** Usually 401. */
  readonly unverified?: RefusalAnswer
  /** Signed, and too old or too far in the future. Usually as `unverified`. */
  readonly stale?: RefusalAnswer
  /** Usually 400. */
  readonly malformed?: RefusalAnswer
  /** Usually 409. */
  readonly conflict?: RefusalAnswer
  /** Usually 413. */
  readonly tooLarge?: RefusalAnswer
  /** Usually 415. */
  readonly encoded?: RefusalAnswer
  /** Database, keys, overload, draining, deadline: 503 with a Retry-After, always. */
  readonly unavailable?: LaterAnswer
}
