import type { PlannedDelivery } from '@counterfoil/core'
import type { Knex } from 'knex'
import type { ClientBase } from 'pg'
import { claimDeliveries } from '../claim/claim-deliveries.js'
import { findClaimed } from '../claim/find-claimed.js'
import { type Landed, recogniseAll } from '../claim/land-plain.js'
import { decideDelivery, type SubjectLock } from './decide-delivery.js'
import type { FindTable } from './find-subject-table.js'
import { readTransition } from './land-transitions.js'
import { type LockedRow, lockSubjects } from './lock-subjects.js'
import { lockTimeoutMs, openTransaction } from './open-transaction.js'
import { recordRefusals } from './record-refusals.js'
import type { SubjectTable } from './subject-table.js'

export type AloneOptions = {
  readonly instance: string
  readonly newId: () => string
  readonly findTable: FindTable
  /** How long this push may wait for a lock or run a function, ms. */
  readonly timeoutMs: number
}

export type AloneResult =
  | { readonly kind: 'landed'; readonly landed: Landed }
  | { readonly kind: 'refused'; readonly retryAfterMs: number }
  /** Rolled back: the owner's actions could not be had. */
  | { readonly kind: 'broken'; readonly cause: string }

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
  const bounds = { instance: options.instance, lockTimeoutMs: lockTimeoutMs(options.timeoutMs), repeat: true }
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
): Promise<Exclude<AloneResult, { kind: 'landed' }> | null> {
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
): Promise<Exclude<AloneResult, { kind: 'landed' }> | null> {
  const locks = await lockAll(client, deliveries, options)
  const bounds = { instance: options.instance, lockTimeoutMs: lockTimeoutMs(options.timeoutMs) }
  const { claimed, written } = await claimDeliveries(client, deliveries, bounds)
  landed.written.push(...written)
  for (const delivery of deliveries) {
    if (!claimed.has(delivery.id)) continue
    const planned = readTransition(delivery)
    const first = { kind: 'first', deliveryUuid: delivery.id, observation: 1 } as const
    if (planned === null) {
      landed.results.set(delivery.id, { ...first, outcome: null })
      continue
    }
    const asker = { deliveryUuid: delivery.id, source: delivery.source, deliveryId: delivery.deliveryId }
    const lock = locks.get(planned.transition.name) ?? null
    const step = await decideDelivery(client, trx, asker, planned, lock, { ...options, decidedBy: 'push' })
    if (step.kind !== 'decided') return step
    landed.written.push(...step.written)
    landed.results.set(delivery.id, { ...first, outcome: step.outcome })
  }
  return null
}

type Locks = ReadonlyMap<string, SubjectLock>

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
