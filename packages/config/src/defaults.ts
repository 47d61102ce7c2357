/** Every default of the configuration, in one place. Durations in ms, sizes in bytes. */
export const DEFAULTS = {
  source: {
    bodyLimitBytes: 262_144,
    ackDeadlineMs: 2_500,
    ackStatus: 204,
    ackStatusWithBody: 200,
    onConflict: 'accept',
    onMalformed: 'refuse_400',
  },
  destination: {
    method: 'POST',
    connectMs: 5_000,
    headersMs: 10_000,
    bodyMs: 10_000,
    concurrency: 16,
    responseCapBytes: 65_536,
    keyMarginMs: 600_000,
    lookup: {
      graceMs: 30_000,
      firstMs: 60_000,
      capMs: 3_600_000,
      maxProbes: 10,
      concurrency: 2,
    },
    /** On top of the total timeout: closing the attempt and a slow commit fit in. */
    leaseSpareMs: 15_000,
    retry: {
      firstMs: 5_000,
      capMs: 3_600_000,
      maxAttempts: 12,
      maxAgeMs: 259_200_000,
      maxRetryAfterMs: 3_600_000,
    },
    /** How vendors say that they knew a key. */
    replayMarkers: [
      { header: 'idempotent-replayed', value: 'true' },
      { header: 'idempotency-replayed', value: 'true' },
      { header: 'x-idempotent-replayed', value: 'true' },
      { header: 'x-idempotency-lookup', value: 'hit' },
    ],
  },
} as const

/** A lease must outlive the total timeout by at least this much, else a second worker could start while one still sends. */
export const LEASE_MARGIN_MS = 5_000

/** HMAC keys shorter than this can be guessed from one captured push. */
export const MIN_SECRET_BYTES = 16
