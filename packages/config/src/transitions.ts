import type { ActionDraft, ConditionalUpdate, CustomTransition, SubjectRow } from '@counterfoil/core'
import { type Duration, parseDuration } from './duration.js'

export type ConditionalUpdateOptions = {
  /** Unique in the configuration; part of the evidence, so keep it. */
  readonly name: string
  /** `table` or `schema.table`. */
  readonly table: string
  /** Default `id`. */
  readonly idColumn?: string
  /** Default `status`. */
  readonly stateColumn?: string
  readonly from: string
  readonly to: string
  /** `timestamptz` column: not before this instant, by the database clock. */
  readonly dueAtColumn: string
  /** Further columns that `actions` and `onApplied` read. */
  readonly returning?: readonly string[]
  /** Business actions for an applied row: the same whether a push, a deferral or the sweep applied it. */
  readonly actions?: (subject: string, row: SubjectRow) => readonly ActionDraft[]
  /** Further changes in the same transaction. `trx` is a Knex transaction. The push then runs alone. */
  readonly onApplied?: (trx: unknown, subject: string, row: SubjectRow) => Promise<void>
  /** Repair of rows that no push ever came for. `false`: none. Default: every minute, one minute late, 500 rows. */
  readonly sweep?: false | { readonly every?: Duration; readonly grace?: Duration; readonly batch?: number }
}

const SWEEP_DEFAULTS = { every: '1m', grace: '1m', batch: 500 } as const

/** The built-in transition: `from` → `to` when the row is due, decided by the row and the database clock (I8). */
export function conditionalUpdate(options: ConditionalUpdateOptions): ConditionalUpdate {
  const {
    idColumn = 'id',
    stateColumn = 'status',
    returning = [],
    actions = () => [],
    sweep,
    onApplied,
    ...rest
  } = options
  return {
    kind: 'conditional_update',
    ...rest,
    idColumn,
    stateColumn,
    returning,
    actions,
    ...(onApplied === undefined ? {} : { onApplied }),
    sweep: sweep === false ? null : resolveSweep(sweep ?? {}),
  }
}

/** A transition of the owner's own, on a Knex transaction. It runs alone, under a statement timeout. */
export function customTransition(options: Omit<CustomTransition, 'kind'>): CustomTransition {
  return { kind: 'custom', ...options }
}

/** A duration that is none becomes NaN here, so that the check of the whole configuration names it. */
function resolveSweep(
  sweep: Exclude<NonNullable<ConditionalUpdateOptions['sweep']>, false>,
): ConditionalUpdate['sweep'] {
  return {
    everyMs: parseDuration(sweep.every ?? SWEEP_DEFAULTS.every) ?? Number.NaN,
    graceMs: parseDuration(sweep.grace ?? SWEEP_DEFAULTS.grace) ?? Number.NaN,
    batch: sweep.batch ?? SWEEP_DEFAULTS.batch,
  }
}
