import { setTimeout as wait } from 'node:timers/promises'
import type { Failure } from '../../connection/classify-failure.js'
import { type Arrival, giveUp } from './arrival.js'

/** How one try of a batch ended. Arrivals that it answered are out; the others share its failure. */
export type TryResult =
  | { readonly kind: 'landed' }
  | { readonly kind: 'failed'; readonly failure: Failure; readonly sent: boolean }

/** What happened to a batch before this try. */
export type Before = {
  readonly tries: number
  /** It is a part of one that met a stranger's lock: one of the parts will meet it again. */
  readonly searching: boolean
}

export type LandOptions = {
  /** Runs these arrivals in one transaction and settles them when it landed. */
  readonly execute: (batch: readonly Arrival[], before: Before) => Promise<TryResult>
  /** Gets an arrival that waits for a stranger's lock; `null` where arrivals already run alone. */
  readonly isolate: ((arrival: Arrival) => void) | null
  readonly random: () => number
}

/**
 * Brings every arrival of a batch to an answer. Nothing of one is shared with the others but the transaction: data that
 * the database refuses is found by halving, a lock that a stranger holds likewise, and what was rolled back for other
 * reasons runs again with the same ids until nobody waits for it.
 */
export async function landBatch(batch: readonly Arrival[], options: LandOptions, searching = false): Promise<void> {
  let live = batch
  for (let tries = 0; live.length > 0; tries += 1) {
    for (const arrival of live) arrival.phase = 'sending'
    const result = await options.execute(live, { tries, searching })
    if (result.kind === 'landed') return
    note(live, result)
    switch (chooseRepair(result.failure, live.length, options.isolate !== null)) {
      case 'give_up':
        for (const arrival of live) giveUp(arrival, result.failure.cause)
        return
      case 'halve': {
        const middle = Math.ceil(live.length / 2)
        const halves = [live.slice(0, middle), live.slice(middle)]
        const blocked = searching || result.failure.kind === 'blocked'
        await Promise.all(halves.map((half) => landBatch(half, options, blocked)))
        return
      }
      case 'isolate':
        for (const arrival of live) options.isolate?.(arrival)
        return
      case 'again':
        await wait(retryDelayMs(result.failure, tries, options.random))
        live = dropAnswered(live)
    }
  }
}

function note(live: readonly Arrival[], result: TryResult & { readonly kind: 'failed' }): void {
  for (const arrival of live) {
    arrival.phase = 'between_tries'
    arrival.cause = result.failure.cause
    if (result.failure.kind === 'connection' && result.sent) arrival.doubtful = true
  }
}

type Repair = 'give_up' | 'halve' | 'isolate' | 'again'

function chooseRepair(failure: Failure, size: number, canIsolate: boolean): Repair {
  switch (failure.kind) {
    case 'data':
      return size > 1 ? 'halve' : 'give_up'
    case 'blocked':
      if (size > 1) return 'halve'
      return canIsolate ? 'isolate' : 'give_up'
    case 'conflict':
    case 'connection':
      return 'again'
    case 'read_only':
    case 'other':
      return 'give_up'
  }
}

/** Full jitter. A conflict is over in milliseconds; a server that went away takes seconds to come back. */
function retryDelayMs(failure: Failure, tries: number, random: () => number): number {
  const cap = failure.kind === 'conflict' ? 50 : 500
  return 2 + random() * Math.min(cap, 10 * 2 ** Math.min(tries, 10))
}

/** Nobody waits for an answered one: its deadline passed. What it was last known to be is its final word. */
function dropAnswered(live: readonly Arrival[]): readonly Arrival[] {
  return live.filter((arrival) => {
    if (!arrival.isAnswered()) return true
    giveUp(arrival, arrival.cause ?? 'deadline')
    return false
  })
}
