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
  /** When the entry was committed, or last redriven by a person: its age counts from here. Epoch ms. */
  readonly createdAt: number
}

/** An entry in the hands of one worker: the lease row is the durable evidence of its attempt (I4). */
export type LeasedEntry = {
  readonly id: string
  readonly destination: string
  readonly idempotencyKey: string
  readonly body: Buffer
  readonly contentType: string
  readonly deliveryUuid: string
  readonly lease: {
    readonly token: string
    readonly attempt: number
    /** When it had become due, epoch ms: the next lease call starts its scan from the latest of these. */
    readonly dueAt: number
    readonly openedAt: number
    readonly expiresAt: number
    /** `performance.now()` of this process just before the lease was asked for: never later than `openedAt`. */
    readonly askedAt: number
    /** `performance.now()` of this process after which no byte may leave any more. */
    readonly sendBefore: number
  }
  /** Before this attempt. `firstSentAt` already counts this attempt. */
  readonly history: AttemptHistory
}

/**
 * The database's time now, from the lease's own times and this process's monotonic clock: no wall clock is read.
 * Late by at most the duration of the lease call, which closes windows early rather than late.
 *
 * @param monotonicNow `performance.now()`
 */
export function databaseNow(leased: LeasedEntry, monotonicNow: number): number {
  return leased.lease.openedAt + Math.max(0, monotonicNow - leased.lease.askedAt)
}
