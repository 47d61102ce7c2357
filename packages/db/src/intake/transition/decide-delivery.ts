import { freezeAction, handleJudgement, type PlannedTransition, type TransitionOutcome } from '@counterfoil/core'
import type { Knex } from 'knex'
import type { ClientBase } from 'pg'
import type { AskedEntry } from '../claim/encode-entries.js'
import { writeEntries } from '../claim/write-entries.js'
import { bound } from './bound.js'
import { decideConditional } from './decide-conditional.js'
import { toAsk } from './land-transitions.js'
import type { LockedRow } from './lock-subjects.js'
import { type DecidedBy, recordOutcomes } from './record-outcomes.js'
import type { SubjectTable } from './subject-table.js'
import { writeDecisions } from './write-decisions.js'

/** The rows that this transaction has locked for one conditional update. */
export type SubjectLock = { readonly table: SubjectTable; readonly rows: Map<string, LockedRow> }

/** The delivery on whose behalf a transition runs. */
export type Asker = { readonly deliveryUuid: string; readonly source: string; readonly deliveryId: string }

export type DecideOptions = {
  readonly decidedBy: DecidedBy
  readonly newId: () => string
  /** Bound of the owner's functions, ms. */
  readonly timeoutMs: number
}

export type DecidedStep =
  | { readonly kind: 'decided'; readonly outcome: TransitionOutcome; readonly written: readonly AskedEntry[] }
  /** Not due, and its policy is to refuse: nothing was written. */
  | { readonly kind: 'refused'; readonly retryAfterMs: number }
  /** The owner's actions could not be had: roll back. */
  | { readonly kind: 'broken'; readonly cause: string }

/**
 * Runs one transition for one delivery inside `trx`, whoever asks (push, deferral, release): outcome, changes of the
 * owner, entries. Whatever throws is passed on, for the caller to roll back.
 */
export function decideDelivery(
  client: ClientBase,
  trx: Knex.Transaction,
  asker: Asker,
  planned: PlannedTransition,
  lock: SubjectLock | null,
  options: DecideOptions,
): Promise<DecidedStep> {
  if (planned.transition.kind === 'custom') return runCustom(client, trx, asker, planned, options)
  if (lock === null) throw new Error('a conditional update ran without its lock')
  return runConditional(client, trx, asker, planned, lock, options)
}

async function runConditional(
  client: ClientBase,
  trx: Knex.Transaction,
  asker: Asker,
  planned: PlannedTransition,
  { table, rows }: SubjectLock,
  options: DecideOptions,
): Promise<DecidedStep> {
  const { transition } = table
  const [decision] = decideConditional(transition, [toAsk(asker.deliveryUuid, planned, table)], rows, options.newId)
  if (decision === undefined) throw new Error('a conditional update was not decided')
  if (decision.broken !== null) return { kind: 'broken', cause: decision.broken }
  if (decision.handling.kind === 'refuse') return { kind: 'refused', retryAfterMs: decision.handling.remainingMs }
  const written = await writeDecisions(client, table, options.decidedBy, [decision])
  if (decision.outcome === 'applied' && decision.row !== null) {
    const { subject, row } = decision.row
    if (transition.onApplied !== undefined) {
      await bound(transition.onApplied(trx, subject, row), options.timeoutMs, transition.name)
    }
    // A later delivery of the same push finds what this one left.
    rows.set(subject, { ...decision.row, state: transition.to })
  }
  return { kind: 'decided', outcome: decision.outcome, written }
}

async function runCustom(
  client: ClientBase,
  trx: Knex.Transaction,
  asker: Asker,
  planned: PlannedTransition,
  options: DecideOptions,
): Promise<DecidedStep> {
  const { transition, subject, payload, notDue } = planned
  if (transition.kind !== 'custom') throw new Error('a conditional update was run as a custom transition')
  const { source, deliveryId, deliveryUuid } = asker
  const apply = transition.apply(trx, { source, deliveryId, payload })
  const result = await bound(apply, options.timeoutMs, transition.name)
  const handling = handleJudgement({ outcome: result.outcome, remainingMs: result.dueInMs ?? 1000 }, notDue)
  if (handling.kind === 'refuse') return { kind: 'refused', retryAfterMs: handling.remainingMs }
  const askAgainInMs = handling.kind === 'defer' ? handling.remainingMs : null
  await recordOutcomes(client, options.decidedBy, [
    { deliveryUuid, transition: transition.name, subject, outcome: result.outcome, decidedAt: null, askAgainInMs },
  ])
  const drafts = result.outcome === 'applied' ? (result.actions ?? []) : []
  const asked = drafts.map((draft) => ({ deliveryUuid, entry: freezeAction(draft, options.newId) }))
  return { kind: 'decided', outcome: result.outcome, written: await writeEntries(client, asked) }
}
