import { createHash, randomFillSync } from 'node:crypto'
import {
  type ActionDraft,
  type ConditionalUpdate,
  createUuidV7Generator,
  type Disposition,
  freezeAction,
  type NotDuePolicy,
  type PlannedDelivery,
  type PlannedTransition,
} from '@counterfoil/core'

export const newId: () => string = createUuidV7Generator({
  now: Date.now,
  fillRandom: (pool) => void randomFillSync(pool),
})

/** The hold of a seat or a load, as both examples have it. */
export const expireHold: ConditionalUpdate = {
  kind: 'conditional_update',
  name: 'expire_hold',
  table: 'hold',
  idColumn: 'id',
  stateColumn: 'state',
  from: 'held',
  to: 'expired',
  dueAtColumn: 'due_at',
  returning: ['place'],
  actions: (subject, row) => [
    { destination: 'carrier', idempotencyKey: `expire:${subject}`, body: { subject, place: row.place } },
  ],
  sweep: { everyMs: 1000, graceMs: 0, batch: 50 },
}

export type DeliveryPlan = {
  readonly source?: string
  readonly deliveryId: string
  readonly body?: string
  readonly disposition?: Disposition
  readonly references?: PlannedDelivery['references']
}

/** A new arrival: every call makes new ids, as every arrival does. */
export function arrive(plan: DeliveryPlan): PlannedDelivery {
  const body = Buffer.from(plan.body ?? `{"id":"${plan.deliveryId}"}`)
  return {
    id: newId(),
    observationId: newId(),
    source: plan.source ?? 'queue',
    deliveryId: plan.deliveryId,
    identityDigest: createHash('sha256').update(body).digest(),
    eventType: 'event',
    keyId: 'k1',
    senderAttempt: null,
    eventAt: null,
    senderOrderingKey: null,
    body,
    contentType: 'application/json',
    references: plan.references ?? [{ name: 'id', value: plan.deliveryId, personal: false }],
    disposition: plan.disposition ?? act([]),
  }
}

export function act(drafts: readonly ActionDraft[]): Disposition {
  return { kind: 'act', transition: null, entries: drafts.map((draft) => freezeAction(draft, newId)) }
}

export function notify(key: string, body = 'hello'): ActionDraft {
  return { destination: 'crm', idempotencyKey: key, body }
}

export function expire(subject: string, notDue: NotDuePolicy, guardMs: number | null = null): PlannedTransition {
  return { transition: expireHold, subject, guardMs, notDue, payload: null }
}

export function transition(planned: PlannedTransition): Disposition {
  return { kind: 'act', transition: planned, entries: [] }
}
