import { randomFillSync } from 'node:crypto'
import { type ConditionalUpdate, createUuidV7Generator } from '@counterfoil/core'
import { type Arrival, createArrival } from './batching/arrival.js'
import { chooseKey, chooseLane } from './batching/choose-lane.js'
import { landBatch } from './batching/land-batch.js'
import { createLane, type Lane } from './batching/lane.js'
import { sizeLanes } from './batching/size-lanes.js'
import { createExecutors } from './executors.js'
import type { IntakeStoreOptions, PostgresIntakeStore } from './intake-options.js'
import { recordAcks } from './record-acks.js'
import { recordUnclaimed } from './record-unclaimed.js'

/** Larger batches gain nothing (measured: 256 and 512 alike) and make more pushes wait for a bisection. */
const BATCH_PUSHES = 256
const BATCH_BYTES = 1024 * 1024

/**
 * The durable intake store: arrivals share the transaction that is in flight next (group commit), each answered only
 * when its own claim is durable (I1). `claim` never rejects. Throws a `RangeError` when the pool is too small.
 */
export function createPostgresIntakeStore(options: IntakeStoreOptions): PostgresIntakeStore {
  const { database } = options
  const lanes = sizeLanes(database.options.max, options.lanes)
  const newId = createUuidV7Generator({ now: Date.now, fillRandom: (pool) => void randomFillSync(pool) })
  const executors = createExecutors({ ...options, newId })
  const idleWaiters: (() => void)[] = []
  let draining = false

  const plain = createLane(
    { ...shared(lanes.plain), run: (batch) => landBatch(batch, { execute: executors.plain, isolate, random }) },
    onChange,
  )
  const alone = createLane(
    {
      ...shared(lanes.alone),
      maxPushes: 1,
      oneAtATimePerKey: true,
      run: (batch) => landBatch(batch, { execute: executors.alone, isolate: null, random }),
    },
    onChange,
  )
  const tables = new Map<string, Lane>()

  function shared(maxInFlight: number) {
    return { maxInFlight, maxPushes: BATCH_PUSHES, maxBytes: BATCH_BYTES, oneAtATimePerKey: false }
  }

  function isolate(arrival: Arrival): void {
    alone.add(arrival)
  }

  function openTableLane(transition: ConditionalUpdate): Lane {
    const known = tables.get(transition.name)
    if (known !== undefined) return known
    const execute = executors.transition(transition, isolate)
    const lane = createLane(
      { ...shared(lanes.transition), run: (batch) => landBatch(batch, { execute, isolate, random }) },
      onChange,
    )
    tables.set(transition.name, lane)
    return lane
  }

  function allLanes(): readonly Lane[] {
    return [plain, alone, ...tables.values()]
  }

  function depth(): { pushes: number; bytes: number } {
    const depths = allLanes().map((lane) => lane.depth())
    return {
      pushes: depths.reduce((sum, one) => sum + one.pushes, 0),
      bytes: depths.reduce((sum, one) => sum + one.bytes, 0),
    }
  }

  function isIdle(): boolean {
    return allLanes().every((lane) => lane.isIdle())
  }

  function onChange(): void {
    if (isIdle()) for (const resolve of idleWaiters.splice(0)) resolve()
  }

  return {
    claim(push, { deadlineAt }) {
      if (draining) return Promise.resolve({ kind: 'not_started', cause: 'draining' })
      if (performance.now() >= deadlineAt) return Promise.resolve({ kind: 'not_started', cause: 'deadline' })
      const waiting = depth()
      if (waiting.pushes >= options.maxQueuedPushes || waiting.bytes >= options.maxQueuedBytes) {
        return Promise.resolve({ kind: 'not_started', cause: 'queue_full' })
      }
      const choice = chooseLane(push)
      const lane = choice.kind === 'plain' ? plain : choice.kind === 'alone' ? alone : openTableLane(choice.transition)
      const { arrival, answer } = createArrival(push, chooseKey(push), deadlineAt, (expired) => {
        lane.remove(expired)
        alone.remove(expired)
        onChange()
      })
      lane.add(arrival)
      return answer
    },
    recordAcks: (acks) => recordAcks(database, acks),
    recordUnclaimed: (traces) => recordUnclaimed(database, traces),
    depth,
    drain() {
      draining = true
      return isIdle() ? Promise.resolve() : new Promise<void>((resolve) => idleWaiters.push(resolve))
    },
  }
}

/** Jitter between tries, nothing that must be secret. */
const random = Math.random
