import type { CustomTransition, PlannedDelivery, TransitionOutcome } from '@counterfoil/core'
import { freezeAction, handleJudgement } from '@counterfoil/core'
import type { Knex } from 'knex'
import type { ClientBase } from 'pg'
import { claimDeliveries } from '../claim/claim-deliveries.js'
import type { AskedEntry } from '../claim/encode-entries.js'
import { findClaimed } from '../claim/find-claimed.js'
import { type Landed, recogniseAll } from '../claim/land-plain.js'
import { writeEntries } from '../claim/write-entries.js'
import { bound } from './bound.js'
import { decideConditional } from './decide-conditional.js'
import { readTransition, toAsk } from './land-transitions.js'
import { type LockedRow, lockSubjects } from './lock-subjects.js'
import { openTransaction } from './open-transaction.js'
import { recordOutcomes } from './record-outcomes.js'
import { recordRefusals } from './record-refusals.js'
import type { SubjectTable } from './subject-table.js'
import { writeDecisions } from './write-decisions.js'

export type AloneOptions = {
  readonly instance: string
  readonly newId: () => string
  readonly findTable: (client: ClientBase, transition: SubjectTable['transition']) => Promise<SubjectTable>
  /** How long this push may wait for a lock or run a function, ms. */
  readonly timeoutMs: number
}

export type AloneResult =
  | { readonly kind: 'landed'; readonly landed: Landed }
  | { readonly kind: 'refused'; readonly retryAfterMs: number }
  /** Rolled back: the owner's actions could not be had. */
  | { readonly kind: 'broken'; readonly cause: string }

type Step =
  | { readonly kind: 'decided'; readonly outcome: TransitionOutcome; readonly written: readonly AskedEntry[] }
  | Exclude<AloneResult, { kind: 'landed' }>

/**
 * Claims one push in a transaction of its own, whatever its transitions are. It may wait for rows, so it takes them
 * *before* its claims: whoever waits here holds no claim that a stranger's batch could run into.
 */
export async function landAlone(
  client: ClientBase,
  knex: Knex,
  deliveries: readonly PlannedDelivery[],
  options: AloneOptions,
): Promise<AloneResult> {
  const landed: Landed = { results: new Map(), written: [] }
  const bounds = { instance: options.instance, lockTimeoutMs: options.timeoutMs, repeat: true }
  // A copy of what is claimed already waits for nothing.
  if ((await findClaimed(client, deliveries)).size < deliveries.length) {
    const stopped = await runTransaction(client, knex, deliveries, landed, options)
    if (stopped !== null) {
      if (stopped.kind === 'refused') await recordRefusals(client, options.instance, refuseAll(deliveries, stopped))
      return stopped
    }
  }
  const rest = deliveries.filter((delivery) => !landed.results.has(delivery.id))
  const missing = await recogniseAll(client, rest, landed, bounds)
  if (missing.length > 0) throw new Error('a claim neither won nor found its winner')
  return { kind: 'landed', landed }
}

function refuseAll(deliveries: readonly PlannedDelivery[], { retryAfterMs }: { readonly retryAfterMs: number }) {
  return deliveries.map((delivery) => ({ delivery, retryAfterMs }))
}

/** `null`: committed. */
async function runTransaction(
  client: ClientBase,
  knex: Knex,
  deliveries: readonly PlannedDelivery[],
  landed: Landed,
  options: AloneOptions,
): Promise<Exclude<Step, { kind: 'decided' }> | null> {
  const transaction = await openTransaction(client, knex, options.timeoutMs)
  try {
    const stopped = await claimAndDecide(client, transaction.trx, deliveries, landed, options)
    await (stopped === null ? transaction.commit() : transaction.rollback())
    return stopped
  } catch (error) {
    // Knex must know, or a late statement of the owner's function would run on this connection outside of anything.
    await transaction.rollback().catch(() => {})
    landed.results.clear()
    throw error
  }
}

async function claimAndDecide(
  client: ClientBase,
  trx: Knex.Transaction,
  deliveries: readonly PlannedDelivery[],
  landed: Landed,
  options: AloneOptions,
): Promise<Exclude<Step, { kind: 'decided' }> | null> {
  const locks = await lockAll(client, deliveries, options)
  const bounds = { instance: options.instance, lockTimeoutMs: options.timeoutMs }
  const { claimed, written } = await claimDeliveries(client, deliveries, bounds)
  landed.written.push(...written)
  for (const delivery of deliveries) {
    if (!claimed.has(delivery.id)) continue
    const step = await decideOne(client, trx, delivery, locks, options)
    if (step.kind !== 'decided') return step
    landed.written.push(...step.written)
    const outcome = readTransition(delivery) === null ? null : step.outcome
    landed.results.set(delivery.id, { kind: 'first', deliveryUuid: delivery.id, observation: 1, outcome })
  }
  return null
}

type Locks = ReadonlyMap<string, { readonly table: SubjectTable; readonly rows: Map<string, LockedRow> }>

/** Locks the rows of every conditional update of the push, table by table in the order of their names, then by id. */
async function lockAll(
  client: ClientBase,
  deliveries: readonly PlannedDelivery[],
  options: AloneOptions,
): Promise<Locks> {
  const asked = new Map<string, { table: SubjectTable; ids: Set<string> }>()
  for (const delivery of deliveries) {
    const planned = readTransition(delivery)
    if (planned === null || planned.transition.kind !== 'conditional_update') continue
    const table = await options.findTable(client, planned.transition)
    const place = asked.get(planned.transition.name) ?? { table, ids: new Set<string>() }
    const id = table.toId(planned.subject)
    if (id !== null) place.ids.add(id)
    asked.set(planned.transition.name, place)
  }
  const locks = new Map<string, { table: SubjectTable; rows: Map<string, LockedRow> }>()
  const inOrder = [...asked].sort(([, a], [, b]) => compare(a.table.transition.table, b.table.transition.table))
  for (const [name, { table, ids }] of inOrder) {
    const { rows } = await lockSubjects(client, table, [...ids], true)
    locks.set(name, { table, rows: new Map(rows) })
  }
  return locks
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function decideOne(
  client: ClientBase,
  trx: Knex.Transaction,
  delivery: PlannedDelivery,
  locks: Locks,
  options: AloneOptions,
): Promise<Step> {
  const planned = readTransition(delivery)
  if (planned === null) return Promise.resolve({ kind: 'decided', outcome: 'applied', written: [] })
  if (planned.transition.kind === 'custom') return runCustom(client, trx, delivery, planned.transition, options)
  return runConditional(client, trx, delivery, locks.get(planned.transition.name), options)
}

async function runConditional(
  client: ClientBase,
  trx: Knex.Transaction,
  delivery: PlannedDelivery,
  lock: { readonly table: SubjectTable; readonly rows: Map<string, LockedRow> } | undefined,
  options: AloneOptions,
): Promise<Step> {
  const planned = readTransition(delivery)
  if (planned === null || lock === undefined) throw new Error('a conditional update ran without its lock')
  const { table, rows } = lock
  const [decision] = decideConditional(table.transition, [toAsk(delivery.id, planned, table)], rows, options.newId)
  if (decision === undefined) throw new Error('a conditional update was not decided')
  if (decision.broken !== null) return { kind: 'broken', cause: decision.broken }
  if (decision.handling.kind === 'refuse') return { kind: 'refused', retryAfterMs: decision.handling.remainingMs }
  const written = await writeDecisions(client, table, 'push', [decision])
  if (decision.outcome === 'applied' && decision.row !== null) {
    const { subject, row } = decision.row
    if (table.transition.onApplied !== undefined) {
      await bound(table.transition.onApplied(trx, subject, row), options.timeoutMs, table.transition.name)
    }
    // A later delivery of the same push finds what this one left.
    rows.set(subject, { ...decision.row, state: table.transition.to })
  }
  return { kind: 'decided', outcome: decision.outcome, written }
}

async function runCustom(
  client: ClientBase,
  trx: Knex.Transaction,
  delivery: PlannedDelivery,
  transition: CustomTransition,
  options: AloneOptions,
): Promise<Step> {
  const planned = readTransition(delivery)
  if (planned === null) throw new Error('a custom transition ran without its plan')
  const { source, deliveryId } = delivery
  const result = await bound(
    transition.apply(trx, { source, deliveryId, payload: planned.payload }),
    options.timeoutMs,
    transition.name,
  )
  const handling = handleJudgement({ outcome: result.outcome, remainingMs: result.dueInMs ?? 1000 }, planned.notDue)
  if (handling.kind === 'refuse') return { kind: 'refused', retryAfterMs: handling.remainingMs }
  await recordOutcomes(client, 'push', [
    {
      deliveryUuid: delivery.id,
      transition: transition.name,
      subject: planned.subject,
      outcome: result.outcome,
      decidedAt: null,
      askAgainInMs: handling.kind === 'defer' ? handling.remainingMs : null,
    },
  ])
  const drafts = result.outcome === 'applied' ? (result.actions ?? []) : []
  const asked = drafts.map((draft) => ({ deliveryUuid: delivery.id, entry: freezeAction(draft, options.newId) }))
  return { kind: 'decided', outcome: result.outcome, written: await writeEntries(client, asked) }
}
