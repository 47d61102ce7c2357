import type { KeyRule } from '../intake/key-rule.js'

/** What a transition did for one delivery. `ignored` and `none` never get a row: there was no transition. */
export type TransitionOutcome = 'applied' | 'no_longer_held' | 'not_due' | 'superseded' | 'not_found'

/** What to do with a delivery that came before its time. There is no default: the owner must say. */
export type NotDuePolicy = 'discard' | 'defer' | 'refuse'

/** The row that a transition is about, as the database holds it after its lock was taken. */
export type SubjectRow = Readonly<Record<string, unknown>>

/** One business action that a transition or a delivery asks for, before it is frozen. */
export type ActionDraft = {
  readonly destination: string
  /** The stable business key. From subject and transition (or ticket event and action), never from the delivery id. */
  readonly idempotencyKey: string
  /** Sent byte for byte on every attempt. An object is serialised once, here, and never again. */
  readonly body: Buffer | string | object
  readonly contentType?: string
  /** Entries of one destination under one ordering key go out one at a time, in commit order. */
  readonly orderingKey?: string
  /** How the destination wants its keys; given by the configuration of the destination, over anything said here. */
  readonly keyRule?: KeyRule
}

/**
 * A transition decided by the row's own state and the database clock (I8).
 * Identifiers are `schema.table` and column names; they are quoted, never interpolated raw.
 */
export type ConditionalUpdate = {
  readonly kind: 'conditional_update'
  readonly name: string
  readonly table: string
  /** Column that holds the subject's id, compared as text. */
  readonly idColumn: string
  readonly stateColumn: string
  readonly from: string
  readonly to: string
  /** `timestamptz` column: not before this instant by the database clock. */
  readonly dueAtColumn: string
  /** Further columns that `actions` and `onApplied` need. */
  readonly returning: readonly string[]
  /** Business actions for an applied row: the same whoever applied it (push, deferral or sweep). */
  readonly actions: (subject: string, row: SubjectRow) => readonly ActionDraft[]
  /** Further changes in the same transaction; makes the push run alone. `trx` is a Knex transaction. */
  readonly onApplied?: (trx: unknown, subject: string, row: SubjectRow) => Promise<void>
  /** Repair of rows that no push ever came for. */
  readonly sweep: { readonly everyMs: number; readonly graceMs: number; readonly batch: number } | null
}

/** A transition written by the owner on Knex. Runs alone, under `statement_timeout`. */
export type CustomTransition = {
  readonly kind: 'custom'
  readonly name: string
  readonly apply: (
    trx: unknown,
    delivery: { readonly source: string; readonly deliveryId: string; readonly payload: unknown },
  ) => Promise<{
    readonly outcome: TransitionOutcome
    /** Only for `not_due`: how long to wait, milliseconds. */
    readonly dueInMs?: number
    readonly actions?: readonly ActionDraft[]
  }>
}

export type Transition = ConditionalUpdate | CustomTransition

/** A transition bound to one delivery: its subject, its guard and its policy. */
export type PlannedTransition = {
  readonly transition: Transition
  readonly subject: string
  /** The event's own deadline, epoch ms: a row with a later one was extended (`superseded`). */
  readonly guardMs: number | null
  readonly notDue: NotDuePolicy
  /** Decoded body, handed to custom transitions. */
  readonly payload: unknown
}
