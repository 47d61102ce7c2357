import { describe, expect, test } from 'vitest'
import { planStoredDelivery } from './plan-stored-delivery.js'
import type { Route, SourceContract } from './source-contract.js'

const route: Route = {
  parse: null,
  references: () => [],
  transition: null,
  actions: ({ deliveryId, payload }) => [{ destination: 'crm', idempotencyKey: deliveryId, body: { payload } }],
}

function source(eventType: SourceContract['eventType']): Parameters<typeof planStoredDelivery>[0] {
  return { name: 'tickets', decode: 'json', eventType, routes: new Map([['known', route]]), otherwise: null }
}

const plan = (eventType: SourceContract['eventType'], stored: { eventType: string | null; body: string }) =>
  planStoredDelivery(
    source(eventType),
    { deliveryId: 'd-1', eventType: stored.eventType, body: Buffer.from(stored.body), contentType: null },
    () => 'id',
  )

describe('planStoredDelivery', () => {
  test('plans by the event type on record, though its header is not kept', () => {
    const planned = plan({ kind: 'header', header: 'x-type' }, { eventType: 'known', body: '{}' })
    expect(planned).toMatchObject({ disposition: { kind: 'act', entries: [{ idempotencyKey: 'd-1' }] } })
  })

  test('reads the type from the body when none is on record', () => {
    const planned = plan({ kind: 'pointer', pointer: '/type' }, { eventType: null, body: '{"type":"known"}' })
    expect(planned).toMatchObject({ disposition: { kind: 'act' } })
  })

  test('a type that no route wants any more is ignored; a body that was never JSON stays malformed', () => {
    expect(plan(null, { eventType: 'gone', body: '{}' })).toMatchObject({ disposition: { kind: 'ignored' } })
    expect(plan(null, { eventType: 'known', body: 'a=1' })).toMatchObject({ kind: 'malformed', cause: 'body_not_json' })
  })
})
