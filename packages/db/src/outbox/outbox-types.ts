import type { AttemptHistory, AttemptOutcome, Decision, LeasedEntry } from '@counterfoil/core'

/** What a worker asks for when it has free slots. */
export type LeaseRequest = {
  readonly destination: string
  /** Most entries to lease: never more than the free slots. At least 1. */
  readonly limit: number
  readonly leaseMs: number
  /** No byte may leave in the last `sendMarginMs` of the lease. */
  readonly sendMarginMs: number
  readonly worker: string
  /** UUID made for this very call, so that a lost reply can be handed back by it. */
  readonly token: string
  /**
   * Lower bound of `due_at`, a hint that keeps the scan short under a held snapshot; `null` looks at everything.
   * Entries committed late can lie below it: look with `null` once a second and whenever nothing was found.
   */
  readonly dueFrom: Date | null
}

/** One attempt that ended, as its owner wants it recorded. */
export type AttemptClose = {
  readonly leased: LeasedEntry
  readonly worker: string
  readonly outcome: AttemptOutcome
  readonly decision: Decision
  readonly durationMs: number | null
  /** For people: error text or excerpt of an answer. Sanitised and cut here; never a payload. */
  readonly detail: string | null
  /** As it went out; `null` where nothing was sent. */
  readonly keySent: string | null
  readonly digestSent: Buffer | null
}

/** Did the close land (I5)? `lease_lost`: somebody else owns the entry; hand the outcome to `recordLateOutcome`. */
export type CloseResult =
  /** `hasLateOutcome`: an earlier lost lease left an outcome; call `applyLateOutcomes` for the entry. */
  { readonly kind: 'recorded'; readonly hasLateOutcome: boolean } | { readonly kind: 'lease_lost' }

/** A lease whose time is over and whose attempt nobody closed. */
export type ExpiredLease = {
  readonly entryId: string
  readonly destination: string
  readonly token: string
  readonly worker: string
  readonly attempt: number
  readonly openedAt: number
  readonly expiresAt: number
  /** The database clock of this statement, epoch ms: the `now` to decide with. */
  readonly now: number
  /** As on a `LeasedEntry`. */
  readonly history: AttemptHistory
}

export type PausedReason = 'credentials' | 'throttled' | 'operator' | 'gone'

/** One destination's flow control and load. */
export type DestinationState = {
  readonly destination: string
  readonly paused: {
    readonly reason: PausedReason
    readonly at: Date
    /** `null`: until somebody resumes it. */
    readonly until: Date | null
    readonly detail: string | null
  } | null
}

/** A pending entry that breaks I12: it is nowhere, or in more than one place. */
export type PlacementProblem = {
  readonly entryId: string
  readonly kind: 'nowhere' | 'due_and_leased' | 'final_but_due' | 'final_but_leased' | 'unknown_entry'
}
