import type { TransitionOutcome } from '../transition/transition.js'
import type { PlannedPush } from './planned-push.js'

/** What became of one delivery of a committed push. `observation` counts its arrivals from 1. */
export type DeliveryResult =
  | {
      readonly kind: 'first'
      readonly deliveryUuid: string
      readonly observation: 1
      readonly outcome: TransitionOutcome | null
    }
  | {
      readonly kind: 'duplicate'
      readonly deliveryUuid: string
      readonly observation: number
      /** The outcome on record for the first arrival, so that a repeat gets the same answer. */
      readonly outcome: TransitionOutcome | null
    }
  /** Same id, other identity digest: acked, kept with its bytes, shown. */
  | {
      readonly kind: 'conflict'
      readonly deliveryUuid: string
      readonly observation: number
      readonly outcome: TransitionOutcome | null
    }

/** The answer of the store for one push. Nothing else can happen: a throw is a bug. */
export type ClaimResult =
  /**
   * Committed and durable (I1). One result per delivery, in the push's order. `destinations` names those that got a
   * new entry, so that they can be woken: the entries of a transition are made inside the claim.
   */
  | {
      readonly kind: 'committed'
      readonly results: readonly DeliveryResult[]
      readonly destinations?: readonly string[]
    }
  /** A `not_due` transition whose policy is `refuse`: no claim was made. */
  | { readonly kind: 'refused'; readonly outcome: 'not_due'; readonly retryAfterMs: number }
  /** Never reached the store: the queue was full, or its deadline passed while it waited. */
  | { readonly kind: 'not_started'; readonly cause: 'queue_full' | 'deadline' | 'draining' }
  /**
   * The deadline passed during COMMIT: it may or may not have landed. `later` resolves (it never rejects) when the
   * store knows, so that "answered 503, committed later" goes on record.
   */
  | { readonly kind: 'in_doubt'; readonly cause: 'deadline' | 'connection'; readonly later?: Promise<ClaimResult> }
  /** The store refused or failed; nothing was committed. */
  | { readonly kind: 'unavailable'; readonly cause: string }

export type ClaimOptions = {
  /** `performance.now()` milliseconds after which nobody waits for the answer any more. */
  readonly deadlineAt: number
}

/** What was answered to one arrival: the third durable checkpoint. */
export type AckRecord = {
  readonly deliveryUuid: string
  readonly observationId: string
  readonly status: number
  /** `not_written`: the socket was gone before the answer could be handed over. */
  readonly result: 'written' | 'not_written'
  /** Epoch ms by the receiver's clock, corrected by its offset to the database. */
  readonly answeredAt: number
}

/** An authenticated push that did not get its claim. */
export type UnclaimedTrace = {
  readonly id: string
  readonly source: string
  readonly deliveryId: string
  readonly identityDigest: Buffer
  readonly seenAt: number
  readonly cause: string
}

/** The port that the receiver stands on. Its in-memory twin and PostgreSQL pass one suite. */
export type IntakeStore = {
  claim(push: PlannedPush, options: ClaimOptions): Promise<ClaimResult>
  /** Append-only, batched, never awaited on the ack path. Repeating a record is harmless. */
  recordAcks(acks: readonly AckRecord[]): Promise<void>
  recordUnclaimed(traces: readonly UnclaimedTrace[]): Promise<void>
}
