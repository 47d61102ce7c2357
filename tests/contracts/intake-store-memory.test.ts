import { createMemoryIntakeStore, type MemoryRecords } from '@counterfoil/core'
import { arrive, expireHold, newId } from './intake-plans.js'
import { describeIntakeStore, type IntakeWorld } from './intake-store-suite.js'

async function openWorld(): Promise<IntakeWorld> {
  let now = Date.parse('2026-03-01T12:00:00Z')
  const store = createMemoryIntakeStore({ now: () => now, elapsed: () => performance.now(), newId })
  const held = (): MemoryRecords => store.records()
  const findClaim = (uuid: string) => [...held().claims.values()].find((claim) => claim.delivery.id === uuid)
  return {
    store,
    putHold: async (id, state, dueInMs) => {
      store.putRow('hold', id, { id, state, due_at: new Date(now + dueInMs), place: `place of ${id}` })
      return now + dueInMs
    },
    readHold: async (id) => String(held().tables.get('hold')?.get(id)?.state),
    untilDue: async (id) => {
      const due = held().tables.get('hold')?.get(id)?.due_at
      if (due instanceof Date) now = Math.max(now, due.getTime())
    },
    observations: async (uuid) => (findClaim(uuid)?.observations ?? []).map(({ number, kind }) => ({ number, kind })),
    outcomes: async (uuid) =>
      (findClaim(uuid)?.outcomes ?? []).map(({ outcome, decidedBy, subject }) => ({ outcome, decidedBy, subject })),
    entries: async (destination, key) =>
      [...held().entries.values()]
        .filter((entry) => entry.destination === destination && entry.idempotencyKey === key)
        .map(({ id, delivery, body }) => ({ id, delivery, body: body.toString() })),
    links: async (entry) =>
      held()
        .links.filter((link) => link.entry === entry)
        .map(({ delivery, bodyDiffers }) => ({ delivery, bodyDiffers })),
    claims: async (source, deliveryId) =>
      [...held().claims.values()].filter(
        (one) => one.delivery.source === source && one.delivery.deliveryId === deliveryId,
      ).length,
    refusals: async (deliveryId) =>
      held()
        .refused.filter((one) => one.deliveryId === deliveryId)
        .map((one) => one.retryAfterMs),
    conflictBodies: async (uuid) => {
      const ids = new Set(findClaim(uuid)?.observations.map((one) => one.id))
      return held()
        .conflicts.filter((one) => ids.has(one.observation))
        .map((one) => one.body.toString())
    },
    deferred: async (uuid) => held().deferred.has(uuid),
    acks: async (uuid) => [...held().acks.values()].filter((ack) => ack.deliveryUuid === uuid).length,
    unclaimed: async (deliveryId) =>
      [...held().unclaimed.values()].filter((trace) => trace.deliveryId === deliveryId).length,
    poison: async (deliveryId) => {
      store.failNext('refused')
      return arrive({ deliveryId })
    },
    applyDeferred: (plan) => store.applyDeferred(plan),
    sweep: () => store.sweep(expireHold),
    close: async () => {},
  }
}

describeIntakeStore('in memory', openWorld)
