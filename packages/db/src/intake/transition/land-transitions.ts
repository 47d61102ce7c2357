import type { PlannedDelivery, PlannedTransition } from '@counterfoil/core'
import type { ClientBase } from 'pg'
import { type Arrival, giveUp } from '../batching/arrival.js'
import { claimDeliveries } from '../claim/claim-deliveries.js'
import { type ClaimBounds, type Landed, recogniseAll } from '../claim/land-plain.js'
import { type ConditionalAsk, type ConditionalDecision, decideConditional } from './decide-conditional.js'
import { type LockedSubjects, lockSubjects } from './lock-subjects.js'
import { recordRefusals } from './record-refusals.js'
import type { SubjectTable } from './subject-table.js'
import { writeDecisions } from './write-decisions.js'

export type TransitionOptions = ClaimBounds & { readonly repeat: boolean; readonly newId: () => string }

/** An arrival of this lane: one delivery with one conditional update. */
type Asking = { readonly arrival: Arrival; readonly delivery: PlannedDelivery; readonly ask: ConditionalAsk }

export type TransitionsLanded = {
  readonly landed: Landed
  /** The arrivals that `landed` speaks of. */
  readonly claimed: readonly Arrival[]
  /** Their rows are held by a stranger: each runs alone, so that nobody here waits. */
  readonly held: readonly Arrival[]
}

type Round =
  | { readonly kind: 'committed'; readonly landed: Landed; readonly rest: readonly PlannedDelivery[] }
  /** Rolled back for these; the others run again without them. */
  | { readonly kind: 'without'; readonly out: ReadonlySet<Asking>; readonly held: readonly Arrival[] }

/**
 * Claims deliveries with a conditional update on one table in one transaction, which waits for no row. What can't be
 * claimed with the others (a held row, a refusal, a broken action) ends the round, is taken out, and the rest runs again.
 */
export async function landTransitions(
  client: ClientBase,
  arrivals: readonly Arrival[],
  table: SubjectTable,
  options: TransitionOptions,
): Promise<TransitionsLanded> {
  let open = arrivals.flatMap((arrival) => toAsking(arrival, table))
  const held: Arrival[] = []
  for (;;) {
    if (open.length === 0) return { landed: { results: new Map(), written: [] }, claimed: [], held }
    const round = await runRound(client, open, table, options)
    if (round.kind === 'without') {
      held.push(...round.held)
      open = open.filter((asking) => !round.out.has(asking))
      continue
    }
    const missing = await recogniseAll(client, round.rest, round.landed, options)
    if (missing.length > 0) throw new Error('a claim neither won nor found its winner')
    return { landed: round.landed, claimed: open.map(({ arrival }) => arrival), held }
  }
}

async function runRound(
  client: ClientBase,
  open: readonly Asking[],
  table: SubjectTable,
  options: TransitionOptions,
): Promise<Round> {
  await client.query('BEGIN')
  const { claimed } = await claimDeliveries(
    client,
    open.map(({ delivery }) => delivery),
    options,
  )
  const mine = open.filter(({ delivery }) => claimed.has(delivery.id))
  const locked = await lockSubjects(client, table, readIds(mine), false)
  const held = findHeld(open, locked)
  if (held.length > 0) {
    await client.query('ROLLBACK')
    return { kind: 'without', out: new Set(held), held: held.map(({ arrival }) => arrival) }
  }
  const asks = mine.map(({ ask }) => ask)
  const decisions = decideConditional(table.transition, asks, locked.rows, options.newId)
  const out = await turnAway(client, mine, decisions, options.instance)
  if (out.size > 0) return { kind: 'without', out, held: [] }
  const written = await writeDecisions(client, table, 'push', decisions)
  await commit(client)
  const rest = open.filter(({ delivery }) => !claimed.has(delivery.id)).map(({ delivery }) => delivery)
  return { kind: 'committed', landed: { results: toResults(decisions), written: [...written] }, rest }
}

/** A transaction that had failed before says ROLLBACK to a COMMIT. */
async function commit(client: ClientBase): Promise<void> {
  const { command } = await client.query('COMMIT')
  if (command !== 'COMMIT') throw new Error('the transaction was rolled back')
}

function toAsking(arrival: Arrival, table: SubjectTable): readonly Asking[] {
  const delivery = arrival.push.deliveries[0]
  const planned = delivery === undefined ? null : readTransition(delivery)
  if (delivery === undefined || planned === null) return []
  return [{ arrival, delivery, ask: toAsk(delivery.id, planned, table) }]
}

export function readTransition(delivery: PlannedDelivery): PlannedTransition | null {
  return delivery.disposition.kind === 'act' ? delivery.disposition.transition : null
}

export function toAsk(deliveryUuid: string, planned: PlannedTransition, table: SubjectTable): ConditionalAsk {
  const { subject, guardMs, notDue } = planned
  return { deliveryUuid, subject, id: table.toId(subject), guardMs, notDue }
}

function readIds(asking: readonly Asking[]): readonly string[] {
  return [...new Set(asking.flatMap(({ ask }) => ask.id ?? []))]
}

/** Everyone who asks for a held row, and further copies of their deliveries: a copy must not overtake its first. */
function findHeld(open: readonly Asking[], locked: LockedSubjects): readonly Asking[] {
  if (locked.skipped.size === 0) return []
  const direct = open.filter(({ ask }) => ask.id !== null && locked.skipped.has(ask.id))
  const keys = new Set(direct.map(({ delivery }) => claimKey(delivery)))
  return open.filter(
    ({ delivery, ask }) => (ask.id !== null && locked.skipped.has(ask.id)) || keys.has(claimKey(delivery)),
  )
}

function claimKey(delivery: PlannedDelivery): string {
  return JSON.stringify([delivery.source, delivery.deliveryId])
}

/** Ends the round when somebody is to be refused, or can't be decided for want of actions; answers those. */
async function turnAway(
  client: ClientBase,
  mine: readonly Asking[],
  decisions: readonly ConditionalDecision[],
  instance: string,
): Promise<ReadonlySet<Asking>> {
  const out = new Set<Asking>()
  const refusals: { asking: Asking; retryAfterMs: number }[] = []
  const broken: { asking: Asking; cause: string }[] = []
  mine.forEach((asking, index) => {
    const decision = decisions[index]
    if (decision === undefined) return
    if (decision.broken !== null) broken.push({ asking, cause: decision.broken })
    if (decision.handling.kind === 'refuse') refusals.push({ asking, retryAfterMs: decision.handling.remainingMs })
  })
  if (refusals.length + broken.length === 0) return out
  await client.query('ROLLBACK')
  await recordRefusals(
    client,
    instance,
    refusals.map(({ asking, retryAfterMs }) => ({ delivery: asking.delivery, retryAfterMs })),
  )
  for (const { asking, retryAfterMs } of refusals) {
    asking.arrival.settle({ kind: 'refused', outcome: 'not_due', retryAfterMs })
    out.add(asking)
  }
  for (const { asking, cause } of broken) {
    giveUp(asking.arrival, cause)
    out.add(asking)
  }
  return out
}

function toResults(decisions: readonly ConditionalDecision[]): Landed['results'] {
  return new Map(
    decisions.map(({ ask, outcome }) => [
      ask.deliveryUuid,
      { kind: 'first', deliveryUuid: ask.deliveryUuid, observation: 1, outcome },
    ]),
  )
}
