/** Where an outbox entry is. Every one of them is due, leased, visibly held with a reason, or final (I12). */
export const ENTRY_STATES = [
  /** In `due`, in `lease`, `waiting` for its ordering key or `parked` with its destination: see the narrow tables. */
  'pending',
  'delivered',
  'uncertain',
  'dead_lettered',
  'settled',
  'cancelled',
] as const
export type EntryState = (typeof ENTRY_STATES)[number]

/** What earlier attempts of an entry left behind; travels with it between `due` and `lease`. */
export type AttemptHistory = {
  /** Highest attempt number used so far. Only rises, survives redrive. */
  readonly attempts: number
  /** Tries spent from the budget; 429, 503 and 401 have a number but spend nothing. */
  readonly tries: number
  /** Epoch ms by the database clock; set with the lease, taken back when nothing was sent. */
  readonly firstSentAt: number | null
  /** Since when the effect is in doubt; ends only by a definite answer. */
  readonly uncertainSince: number | null
  /** When the entry was committed, epoch ms. */
  readonly createdAt: number
}

/** An entry in the hands of one worker: the lease row is the durable evidence of its attempt (I4). */
export type LeasedEntry = {
  readonly id: string
  readonly destination: string
  readonly idempotencyKey: string
  readonly body: Buffer
  readonly bodyDigest: Buffer
  readonly contentType: string
  readonly deliveryUuid: string
  readonly lease: {
    readonly token: string
    readonly attempt: number
    readonly openedAt: number
    readonly expiresAt: number
    /** `performance.now()` of this process after which no byte may leave any more. */
    readonly sendBefore: number
  }
  /** Before this attempt. `firstSentAt` already counts this attempt. */
  readonly history: AttemptHistory
}
