import type { Arrival } from './arrival.js'

export type LaneOptions = {
  /** Batches at once. While they run, the next one gathers. */
  readonly maxInFlight: number
  readonly maxPushes: number
  readonly maxBytes: number
  /** Keys of which only one arrival may be in flight; for lanes whose batches are single arrivals. */
  readonly oneAtATimePerKey: boolean
  /** Answers every arrival of the batch; never rejects. */
  readonly run: (batch: readonly Arrival[]) => Promise<void>
}

export type Lane = {
  add(arrival: Arrival): void
  /** Takes a waiting arrival out again; nothing happens when it isn't waiting. */
  remove(arrival: Arrival): void
  depth(): { readonly pushes: number; readonly bytes: number }
  isIdle(): boolean
}

/**
 * Arrivals that share the transaction that is in flight next. `onChange` is called after each batch.
 *
 * A batch starts in the next turn of the event loop, so that everything that one poll of the sockets brought goes with it.
 */
export function createLane(options: LaneOptions, onChange: () => void): Lane {
  // A set: insertion order is arrival order, and an expired push leaves memory at once.
  const waiting = new Set<Arrival>()
  const busy = new Set<string>()
  let bytes = 0
  let inFlight = 0
  let scheduled = false

  function schedule(): void {
    if (scheduled) return
    scheduled = true
    setImmediate(() => {
      scheduled = false
      pump()
    })
  }

  function pump(): void {
    while (inFlight < options.maxInFlight) {
      const batch = take()
      if (batch.length === 0) return
      void start(batch)
    }
  }

  function take(): readonly Arrival[] {
    const batch: Arrival[] = []
    let batchBytes = 0
    for (const arrival of waiting) {
      if (options.oneAtATimePerKey && busy.has(arrival.key)) continue
      if (batch.length >= options.maxPushes) break
      if (batch.length > 0 && batchBytes + arrival.bytes > options.maxBytes) break
      remove(arrival)
      batchBytes += arrival.bytes
      batch.push(arrival)
      if (options.oneAtATimePerKey) busy.add(arrival.key)
    }
    return batch
  }

  async function start(batch: readonly Arrival[]): Promise<void> {
    inFlight += 1
    for (const arrival of batch) arrival.phase = 'sending'
    try {
      await options.run(batch)
    } finally {
      inFlight -= 1
      if (options.oneAtATimePerKey) for (const arrival of batch) busy.delete(arrival.key)
      onChange()
      pump()
    }
  }

  function remove(arrival: Arrival): void {
    if (waiting.delete(arrival)) bytes -= arrival.bytes
  }

  return {
    add(arrival) {
      arrival.phase = 'queued'
      waiting.add(arrival)
      bytes += arrival.bytes
      schedule()
    },
    remove,
    depth: () => ({ pushes: waiting.size, bytes }),
    isIdle: () => waiting.size === 0 && inFlight === 0,
  }
}
