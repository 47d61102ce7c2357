import type { AttemptOutcome } from '../attempt/outcome.js'
import type { EntryState } from '../outbox/entry.js'
import type { Finding, FindingEffect } from '../reconcile/finding.js'
import type { TransitionOutcome } from '../transition/transition.js'

// What is on record about one delivery, as the evidence tables hold it. Times are epoch ms by the database clock;
// digests are lower-case hex. Nothing here is a payload or a secret.

/** One authenticated arrival that committed. */
export type ObservedArrival = {
  readonly id: string
  readonly kind: 'first' | 'duplicate' | 'conflict'
  readonly keyId: string
  readonly senderAttempt: number | null
  readonly instance: string
  readonly observedAt: number
}

/** An authenticated arrival that was answered "not now" on purpose: no claim was made. */
export type RefusedArrival = {
  readonly id: string
  readonly outcome: string
  readonly retryAfterMs: number
  readonly keyId: string
  readonly senderAttempt: number | null
  readonly instance: string
  readonly observedAt: number
}

/** An authenticated arrival whose claim did not commit. Open as long as no delivery with its id exists. */
export type UnclaimedArrival = { readonly id: string; readonly cause: string; readonly seenAt: number }

export type AckOnRecord = {
  readonly observation: string
  readonly status: number
  readonly result: 'written' | 'not_written'
  readonly answeredAt: number
}

export type TransitionOnRecord = {
  readonly number: number
  readonly transition: string
  readonly subject: string
  readonly outcome: TransitionOutcome
  readonly decidedBy: 'push' | 'deferral' | 'sweep' | 'release'
  readonly decidedAt: number
}

export type OutcomeKind = AttemptOutcome['kind']

/** One try to send, as it ended. */
export type AttemptOnRecord = {
  readonly number: number
  readonly worker: string
  readonly openedAt: number
  readonly closedAt: number
  readonly outcome: OutcomeKind
  readonly status: number | null
  readonly repeat: boolean
  readonly cause: string | null
  readonly detail: string | null
  readonly durationMs: number | null
  /** As it went out; `null` where nothing was sent, where no key was sent, or where the worker was lost. */
  readonly keySent: string | null
  readonly digestSent: string | null
  readonly decision: string
  readonly decisionReason: string | null
  readonly nextDueAt: number | null
}

/** An outcome that came after its lease was lost (I5). */
export type LateOutcomeOnRecord = {
  readonly number: number
  readonly worker: string
  readonly outcome: OutcomeKind
  readonly status: number | null
  readonly repeat: boolean
  readonly cause: string | null
  readonly detail: string | null
  readonly recordedAt: number
}

export type ActKind =
  | 'redrive'
  | 'settle'
  | 'release'
  | 'discard'
  | 'resume'
  | 'push'
  | 'pause'
  | 'skip'
  | 'cancel'
  | 'send_again'
  | 'approve'
  | 'bulk'
  | 'reconcile'

/** One question to the destination about an entry in doubt, and what it brought. */
export type LookupOnRecord = {
  readonly number: number
  /** A worker, or the operator in whose name it was asked. */
  readonly askedBy: string
  readonly byPerson: boolean
  readonly askedAt: number
  /** `null`: whoever asked has not written an answer down. */
  readonly answer: {
    readonly answeredAt: number
    readonly finding: Finding
    readonly status: number | null
    readonly cause: string | null
    readonly detail: string | null
    readonly effect: FindingEffect
  } | null
}

/** An open doubt as the reconciler sees it. */
export type DoubtOnRecord = {
  readonly heldAt: number
  /** `null`: nobody asks by itself any more. */
  readonly nextAskAt: number | null
  /** From then on it is overdue; `null`: no worker has looked at it yet. */
  readonly reviewBy: number | null
}

/** What a person did (I9). */
export type ActOnRecord = {
  readonly id: string
  readonly actor: string
  readonly action: ActKind
  readonly reason: string
  readonly entry: string | null
  readonly detail: Readonly<Record<string, unknown>>
  readonly actedAt: number
}

/** Where a pending entry is (I12). `nowhere` is a fault that `doctor` reports. */
export type EntryPosition =
  | { readonly kind: 'due'; readonly dueAt: number; readonly uncertainSince: number | null }
  | {
      readonly kind: 'leased'
      readonly attempt: number
      readonly worker: string
      readonly openedAt: number
      readonly expiresAt: number
      readonly uncertainSince: number | null
    }
  | { readonly kind: 'final' }
  | { readonly kind: 'nowhere' }

export type PauseOnRecord = {
  readonly reason: string
  readonly pausedAt: number
  readonly pausedUntil: number | null
  readonly detail: string | null
}

/** An entry that stands for sending another one again, as a business action of its own that two people wanted. */
export type AgainOnRecord = {
  /** The entry that was sent again. */
  readonly of: string
  /** The first entry of the family. */
  readonly root: string
  readonly number: number
  readonly requestedBy: string
  readonly approvedBy: string
}

/** One business action and everything that came of it. */
export type EntryTimeline = {
  readonly id: string
  /** The delivery that asked for it first. */
  readonly delivery: string
  /** Set when the delivery at hand only found this entry standing for its action. */
  readonly link: { readonly bodyDiffers: boolean; readonly linkedAt: number } | null
  /** Deliveries other than the first that asked for the same action. */
  readonly linkedDeliveries: number
  /** `null` for what a delivery asked for. */
  readonly again: AgainOnRecord | null
  readonly destination: string
  readonly idempotencyKey: string
  readonly bodyDigest: string
  readonly contentErased: boolean
  readonly orderingKey: string | null
  readonly createdAt: number
  readonly state: EntryState
  readonly reason: string | null
  readonly repeat: boolean | null
  readonly firstSentAt: number | null
  readonly uncertainSince: number | null
  readonly closedAt: number | null
  readonly position: EntryPosition
  readonly pause: PauseOnRecord | null
  readonly attempts: readonly AttemptOnRecord[]
  readonly lateOutcomes: readonly LateOutcomeOnRecord[]
  readonly lookups: readonly LookupOnRecord[]
  /** `null`: it is not held as uncertain. */
  readonly doubt: DoubtOnRecord | null
  readonly acts: readonly ActOnRecord[]
}

/** How often it arrived. Counts are exact; the list beside them may be cut. */
export type ArrivalCounts = {
  readonly observed: number
  readonly duplicates: number
  readonly conflicts: number
  readonly refused: number
}

export type DeliveryTimeline = {
  /** The database clock when this was read. */
  readonly readAt: number
  readonly delivery: {
    readonly id: string
    readonly source: string
    readonly deliveryId: string
    readonly eventType: string | null
    readonly disposition: 'act' | 'ignored' | 'quarantined'
    readonly reason: string | null
    readonly claimedAt: number
    readonly contentErased: boolean
  }
  /** `value` is `null` where it is personal. */
  readonly references: readonly { readonly name: string; readonly value: string | null }[]
  readonly counts: ArrivalCounts
  readonly observations: readonly ObservedArrival[]
  readonly refusals: readonly RefusedArrival[]
  /** Traces that this delivery's claim has cleared: kept, because they say that somebody was answered 503. */
  readonly unclaimed: readonly UnclaimedArrival[]
  readonly acks: readonly AckOnRecord[]
  readonly transitions: readonly TransitionOnRecord[]
  readonly deferredUntil: number | null
  readonly entries: readonly EntryTimeline[]
  readonly acts: readonly ActOnRecord[]
  /** Something was left out of a list above because there was too much of it. */
  readonly cut: boolean
}

/** Arrivals of an id that was never claimed. */
export type ArrivalTimeline = {
  readonly readAt: number
  readonly source: string
  readonly deliveryId: string
  readonly refusals: readonly RefusedArrival[]
  readonly unclaimed: readonly UnclaimedArrival[]
  readonly counts: { readonly refused: number; readonly unclaimed: number }
}
