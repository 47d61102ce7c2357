import type { DeliveryResult, PlannedDelivery } from '@counterfoil/core'
import type { ClientBase } from 'pg'
import type { Arrival } from '../batching/arrival.js'
import { claimDeliveries } from './claim-deliveries.js'
import type { AskedEntry } from './encode-entries.js'
import { recogniseArrivals } from './recognise-arrivals.js'

export type ClaimBounds = {
  readonly instance: string
  readonly lockTimeoutMs: number
}

/** What is known of each delivery (by the id of its arrival) and the entries written for it. */
export type Landed = {
  readonly results: Map<string, DeliveryResult>
  readonly written: AskedEntry[]
}

/** A claim that neither wins nor finds the winner meets a row that is being deleted; that has an end. */
const MOST_ROUNDS = 20

/** Claims what has no transition, each statement a transaction of its own, and recognises what was claimed before. */
export async function landPlain(
  client: ClientBase,
  deliveries: readonly PlannedDelivery[],
  bounds: ClaimBounds & { readonly repeat: boolean },
): Promise<Landed> {
  const landed: Landed = { results: new Map(), written: [] }
  let open = deliveries
  for (let round = 0; open.length > 0; round += 1) {
    if (round >= MOST_ROUNDS) throw new Error('a claim neither won nor found its winner')
    const { claimed, written } = await claimDeliveries(client, open, bounds)
    landed.written.push(...written)
    addFirsts(landed, claimed)
    const rest = open.filter((delivery) => !claimed.has(delivery.id))
    open = await recogniseAll(client, rest, landed, { ...bounds, repeat: bounds.repeat || round > 0 })
  }
  return landed
}

/** Recognises until every arrival has its number; returns those whose claim is nowhere to be found. */
export async function recogniseAll(
  client: ClientBase,
  deliveries: readonly PlannedDelivery[],
  landed: Landed,
  options: ClaimBounds & { readonly repeat: boolean },
): Promise<readonly PlannedDelivery[]> {
  const missing: PlannedDelivery[] = []
  let open = deliveries
  for (let round = 0; open.length > 0; round += 1) {
    if (round >= MOST_ROUNDS) throw new Error('an arrival found no number of its own')
    const { known, unknown } = await recogniseArrivals(client, open, {
      ...options,
      repeat: options.repeat || round > 0,
    })
    for (const [id, result] of known) landed.results.set(id, result)
    missing.push(...unknown)
    const nowhere = new Set(unknown)
    open = open.filter((delivery) => !known.has(delivery.id) && !nowhere.has(delivery))
  }
  return missing
}

function addFirsts(landed: Landed, claimed: ReadonlySet<string>): void {
  for (const id of claimed) {
    landed.results.set(id, { kind: 'first', deliveryUuid: id, observation: 1, outcome: null })
  }
}

/** Answers the arrivals of a landed transaction: each gets its deliveries' results, in the push's order. */
export function settleLanded(batch: readonly Arrival[], landed: Landed): void {
  const destinations = new Map<string, string[]>()
  for (const { deliveryUuid, entry } of landed.written) {
    const list = destinations.get(deliveryUuid)
    if (list === undefined) destinations.set(deliveryUuid, [entry.destination])
    else list.push(entry.destination)
  }
  for (const arrival of batch) {
    const { deliveries } = arrival.push
    const results = deliveries.flatMap((delivery) => landed.results.get(delivery.id) ?? [])
    if (results.length !== deliveries.length) throw new Error('a landed push has a delivery without a result')
    const woken = new Set(deliveries.flatMap((delivery) => destinations.get(delivery.id) ?? []))
    arrival.settle({ kind: 'committed', results, destinations: [...woken] })
  }
}
