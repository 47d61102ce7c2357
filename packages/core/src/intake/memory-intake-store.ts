import { SWEEP_SOURCE } from '../transition/sweep-source.js'
import type { ConditionalUpdate, PlannedTransition } from '../transition/transition.js'
import { freezeAction } from './freeze-action.js'
import type {
  AckRecord,
  ClaimOptions,
  ClaimResult,
  DeliveryResult,
  IntakeStore,
  UnclaimedTrace,
} from './intake-store.js'
import {
  addEntries,
  addTo,
  claimKey,
  EMPTY_RECORDS,
  type MemoryClaim,
  type MemoryOutcome,
  type MemoryRecords,
} from './memory-records.js'
import { decideInMemory, findOverdue, type MemoryDecision } from './memory-transition.js'
import type { PlannedDelivery, PlannedPush } from './planned-push.js'

export type MemoryIntakeStore = IntakeStore & {
  /** What is held right now; a snapshot. */
  records(): MemoryRecords
  /** Puts a business row where transitions find it. */
  putRow(table: string, id: string, row: Readonly<Record<string, unknown>>): void
  /** The next push fails like a refusing database, and leaves nothing. */
  failNext(cause: string): void
  applyDeferred(
    plan: (delivery: PlannedDelivery) => PlannedTransition | null,
  ): Promise<{ readonly applied: number; readonly destinations: readonly string[] }>
  sweep(update: ConditionalUpdate): Promise<{ readonly applied: number; readonly destinations: readonly string[] }>
}

/** Ends a push: thrown inside, never seen outside. */
class RefusedInMemory extends Error {
  readonly retryAfterMs: number
  constructor(retryAfterMs: number) {
    super('not due')
    this.retryAfterMs = retryAfterMs
  }
}

/**
 * The intake store without a database, for tests of what stands on the port: it keeps the promises of the durable one
 * (I2, I3, I8, whole pushes) as long as the process lives, and passes the same suite. Pushes run one after the other.
 */
export function createMemoryIntakeStore(options: {
  /** Epoch ms of the clock that decides transitions. */
  readonly now: () => number
  /** The clock of `deadlineAt`, milliseconds; without one no deadline passes. */
  readonly elapsed?: () => number
  readonly newId: () => string
}): MemoryIntakeStore {
  let records = EMPTY_RECORDS
  let failure: string | null = null
  let tail: Promise<unknown> = Promise.resolve()

  /** Changes become visible when all of them are made. */
  function commit<T>(change: (records: MemoryRecords) => Promise<readonly [MemoryRecords, T]>): Promise<T> {
    const turn = tail.then(async () => {
      const [next, value] = await change(records)
      records = next
      return value
    })
    tail = turn.catch(() => {})
    return turn
  }

  async function claim(push: PlannedPush, { deadlineAt }: ClaimOptions): Promise<ClaimResult> {
    if (options.elapsed !== undefined && options.elapsed() >= deadlineAt) {
      return { kind: 'not_started', cause: 'deadline' }
    }
    try {
      return await commit(async (before) => {
        if (failure !== null) {
          const cause = failure
          failure = null
          throw new Error(cause)
        }
        let after = before
        const results: DeliveryResult[] = []
        const destinations = new Set<string>()
        for (const delivery of push.deliveries) {
          const step = await claimOne(after, delivery)
          after = step.records
          results.push(step.result)
          for (const destination of step.destinations) destinations.add(destination)
        }
        return [after, { kind: 'committed', results, destinations: [...destinations] }] as const
      })
    } catch (error) {
      if (error instanceof RefusedInMemory) {
        noteRefusal(push, error.retryAfterMs)
        return { kind: 'refused', outcome: 'not_due', retryAfterMs: error.retryAfterMs }
      }
      return { kind: 'unavailable', cause: error instanceof Error ? error.message : 'unknown' }
    }
  }

  async function claimOne(before: MemoryRecords, delivery: PlannedDelivery) {
    const key = claimKey(delivery.source, delivery.deliveryId)
    const standing = before.claims.get(key)
    if (standing !== undefined) return { ...recognise(before, key, standing, delivery), destinations: [] }
    const { disposition } = delivery
    const planned = disposition.kind === 'act' ? disposition.transition : null
    const decision = planned === null ? null : await decideInMemory(planned, delivery, before.tables, options.now())
    if (decision?.handling.kind === 'refuse') throw new RefusedInMemory(decision.handling.remainingMs)
    const claimed: MemoryClaim = {
      delivery,
      planned: delivery,
      observations: [{ id: delivery.observationId, number: 1, kind: 'first' }],
      outcomes: decision === null ? [] : [describe(planned?.transition.name ?? '', decision, 'push')],
    }
    const withClaim = { ...before, claims: addTo(before.claims, key, claimed) }
    const entries = disposition.kind === 'act' && planned === null ? disposition.entries : freeze(decision)
    const written = addEntries(settle(withClaim, delivery.id, decision), delivery.id, entries)
    const outcome = decision?.outcome ?? null
    const result: DeliveryResult = { kind: 'first', deliveryUuid: delivery.id, observation: 1, outcome }
    return { ...written, result }
  }

  function recognise(before: MemoryRecords, key: string, standing: MemoryClaim, delivery: PlannedDelivery) {
    const deliveryUuid = standing.delivery.id
    const outcome = standing.outcomes[0]?.outcome ?? null
    if (deliveryUuid === delivery.id) {
      return { records: before, result: { kind: 'first', deliveryUuid, observation: 1, outcome } as const }
    }
    const kind = standing.delivery.identityDigest.equals(delivery.identityDigest) ? 'duplicate' : 'conflict'
    const seen = standing.observations.find((one) => one.id === delivery.observationId)
    const number = seen?.number ?? standing.observations.length + 1
    const result: DeliveryResult = { kind, deliveryUuid, observation: number, outcome }
    if (seen !== undefined) return { records: before, result }
    const observations = [...standing.observations, { id: delivery.observationId, number, kind } as const]
    const conflict = { observation: delivery.observationId, body: delivery.body }
    const conflicts = kind === 'conflict' ? [...before.conflicts, conflict] : before.conflicts
    return {
      records: { ...before, conflicts, claims: addTo(before.claims, key, { ...standing, observations }) },
      result,
    }
  }

  function settle(before: MemoryRecords, delivery: string, decision: MemoryDecision | null): MemoryRecords {
    if (decision === null) return before
    const deferred = new Map(before.deferred)
    if (decision.handling.kind === 'defer') deferred.set(delivery, options.now() + decision.handling.remainingMs)
    else deferred.delete(delivery)
    return { ...before, deferred, tables: decision.tables }
  }

  function freeze(decision: MemoryDecision | null) {
    return (decision?.actions ?? []).map((draft) => freezeAction(draft, options.newId))
  }

  function noteRefusal(push: PlannedPush, retryAfterMs: number): void {
    const refused = push.deliveries.map(({ source, deliveryId }) => ({ source, deliveryId, retryAfterMs }))
    records = { ...records, refused: [...records.refused, ...refused] }
  }

  function applyDeferred(plan: (delivery: PlannedDelivery) => PlannedTransition | null) {
    return commit(async (before) => {
      let after = before
      let applied = 0
      const destinations = new Set<string>()
      for (const [id, dueAt] of before.deferred) {
        const found = [...after.claims].find(([, one]) => one.delivery.id === id)
        const planned = found?.[1].planned == null ? null : plan(found[1].planned)
        if (dueAt > options.now() || found === undefined || planned === null) continue
        const [key, claimed] = found
        const decision = await decideInMemory(planned, claimed.delivery, after.tables, options.now())
        if (decision.outcome === 'not_due') {
          after = { ...after, deferred: addTo(after.deferred, id, options.now() + remaining(decision)) }
          continue
        }
        const outcomes = [...claimed.outcomes, describe(planned.transition.name, decision, 'deferral')]
        after = { ...after, claims: addTo(after.claims, key, { ...claimed, outcomes }) }
        const written = addEntries(settle(after, id, decision), id, freeze(decision))
        after = written.records
        for (const destination of written.destinations) destinations.add(destination)
        if (decision.outcome === 'applied') applied += 1
      }
      return [after, { applied, destinations: [...destinations] }] as const
    })
  }

  function sweep(update: ConditionalUpdate) {
    return commit(async (before) => {
      let after = before
      let applied = 0
      const destinations = new Set<string>()
      for (const facts of findOverdue(update, before.tables, options.now()).slice(0, update.sweep?.batch ?? 100)) {
        const { subject } = facts
        const planned = { transition: update, subject, guardMs: null, notDue: 'discard', payload: null } as const
        const deliveryId = `${update.name}:${subject}:${facts.dueMs ?? 0}`
        const delivery = { id: options.newId(), source: SWEEP_SOURCE, deliveryId, identityDigest: Buffer.alloc(32) }
        const decision = await decideInMemory(planned, delivery, after.tables, options.now())
        const claimed: MemoryClaim = {
          delivery,
          planned: null,
          observations: [],
          outcomes: [describe(update.name, decision, 'sweep')],
        }
        after = { ...after, claims: addTo(after.claims, claimKey(SWEEP_SOURCE, deliveryId), claimed) }
        const written = addEntries(settle(after, delivery.id, decision), delivery.id, freeze(decision))
        after = written.records
        for (const destination of written.destinations) destinations.add(destination)
        applied += 1
      }
      return [after, { applied, destinations: [...destinations] }] as const
    })
  }

  return {
    claim,
    applyDeferred,
    sweep,
    records: () => records,
    recordAcks: async (acks: readonly AckRecord[]) => {
      const missing = acks.filter((ack) => !records.acks.has(ack.observationId))
      records = {
        ...records,
        acks: new Map([...records.acks, ...missing.map((ack) => [ack.observationId, ack] as const)]),
      }
    },
    recordUnclaimed: async (traces: readonly UnclaimedTrace[]) => {
      const all = [...traces.map((trace) => [trace.id, trace] as const), ...records.unclaimed]
      records = { ...records, unclaimed: new Map(all) }
    },
    putRow: (table, id, row) => {
      const rows = addTo(records.tables.get(table) ?? new Map(), id, row)
      records = { ...records, tables: addTo(records.tables, table, rows) }
    },
    failNext: (cause) => {
      failure = cause
    },
  }
}

function describe(transition: string, decision: MemoryDecision, decidedBy: MemoryOutcome['decidedBy']): MemoryOutcome {
  return { transition, subject: decision.subject, outcome: decision.outcome, decidedBy }
}

function remaining(decision: MemoryDecision): number {
  return decision.handling.kind === 'claim' ? 1000 : decision.handling.remainingMs
}
