import type { IntakeStore, PlannedDelivery, PlannedTransition, TransitionOutcome } from '@counterfoil/core'
import type { Logger } from 'pino'
import type { Database } from '../connection/database.js'

/** How many transactions of each kind may be in flight at once; together they need that many connections. */
export type IntakeLanes = {
  /** Pushes without a transition. */
  readonly plain: number
  /** Conditional updates, each table for itself. */
  readonly transition: number
  /** Pushes that run alone: custom transitions, `onApplied`, rows that a stranger holds. */
  readonly alone: number
}

export type IntakeStoreOptions = {
  readonly database: Database
  /** Name of this process; written beside every arrival. */
  readonly instance: string
  readonly maxQueuedPushes: number
  readonly maxQueuedBytes: number
  /** Sized from the pool when left out. */
  readonly lanes?: IntakeLanes
  /** Upper bound of one custom transition, ms; the push's own deadline when that is nearer. */
  readonly customTimeoutMs?: number
  readonly log: Pick<Logger, 'warn' | 'error'>
}

export type PostgresIntakeStore = IntakeStore & {
  /** What waits for a transaction right now. */
  depth(): { readonly pushes: number; readonly bytes: number }
  /** Takes nothing more; resolves when everything taken has its answer. */
  drain(): Promise<void>
}

/** A delivery as it is stored, for planning it again by today's configuration. */
export type StoredDelivery = Pick<PlannedDelivery, 'source' | 'deliveryId' | 'eventType' | 'body' | 'contentType'>

/** `null`: no route wants it any more. */
export type PlanAgain = (delivery: StoredDelivery) => PlannedTransition | null

export type DeferredResult = {
  /** Decided for good, by outcome. */
  readonly decided: Readonly<Partial<Record<TransitionOutcome, number>>>
  readonly applied: number
  /** Their row's deadline had moved, so they wait again. */
  readonly postponed: number
  /** Skipped: a stranger holds the row. They stay due. */
  readonly skipped: number
  /** No plan, no bytes, or the database refused: looked at again after a pause. */
  readonly failed: number
  /** Wake these: entries were written for them. */
  readonly destinations: readonly string[]
}

export type SweepResult = {
  readonly applied: number
  readonly skipped: number
  readonly failed: number
  /** A full batch: call again at once. */
  readonly more: boolean
  readonly destinations: readonly string[]
}
