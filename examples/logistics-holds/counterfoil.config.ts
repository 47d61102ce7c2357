import { conditionalUpdate, type Duration, defineConfig, hmacBody, route, secret, z } from '@counterfoil/config'
import type { Knex } from 'knex'

type Sweep = { readonly every: Duration; readonly grace: Duration }
type Transition = ReturnType<typeof expireHold>

const expiryJob = z.object({
  event: z.literal('reservation.expire'),
  jobId: z.string().min(1).max(100),
  reservationId: z.string().min(1).max(100),
  holdUntil: z.iso.datetime({ offset: true }),
})

/**
 * held → expired by the database clock alone: `holdUntil` of a job is context, not authority (I8). The stock goes back
 * in the same transaction, and the carrier is told under a key made of the reservation: whoever wins the transition,
 * push, deferral or sweep, asks for the same one action.
 */
function expireHold(sweep: Sweep) {
  return conditionalUpdate({
    name: 'expire-hold',
    table: 'logistics.hold',
    idColumn: 'reservation_id',
    from: 'held',
    to: 'expired',
    dueAtColumn: 'hold_until',
    returning: ['sku', 'quantity'],
    onApplied: async (trx, _reservation, row) => {
      await (trx as Knex.Transaction)('logistics.inventory')
        .where({ sku: row.sku })
        .increment('available', Number(row.quantity))
        .decrement('held', Number(row.quantity))
    },
    actions: (reservation, row) => [
      {
        destination: 'carrier',
        idempotencyKey: `${reservation}/release-pickup`,
        body: { about: reservation, action: 'release_pickup', sku: row.sku, quantity: row.quantity },
      },
    ],
    sweep,
  })
}

/** One contract for both queues of the warehouse; they differ in what happens to a job that comes too early. */
const queue = (path: string, keyId: string, variable: string, use: Transition, notDue: 'defer' | 'refuse') => ({
  path,
  verify: hmacBody({ signatureHeader: 'X-Queue-Signature' }),
  keys: [{ id: keyId, secret: secret.env(variable) }],
  deliveryId: { pointer: '/jobId' },
  eventType: { pointer: '/event' },
  // The signature binds no time, so a signed field does: a job is refused a day after its hold ended.
  maxAge: { pointer: '/holdUntil', age: '24h' as const },
  redeliveryHorizon: '3d' as const,
  ack: {
    status: 200 as const,
    body: (outcome: string) => ({ accepted: true, outcome }),
    senderTimeout: '10s' as const,
    deadline: '2s' as const,
  },
  routes: {
    'reservation.expire': route({
      schema: expiryJob,
      references: ({ payload }) => ({ reservation: payload.reservationId, job: payload.jobId }),
      transition: { use, subject: ({ payload }) => payload.reservationId, notDue },
    }),
  },
})

/** `sweep`: how often, and how late, holds are looked for that no push ever came for. */
export function logisticsHolds(sweep: Sweep) {
  const use = expireHold(sweep)
  return defineConfig({
    sources: {
      // This queue forgets a job once it is acked, so an early one is kept and applied when it is due.
      warehouse: queue('/push/warehouse', 'demo-warehouse', 'WAREHOUSE_PUSH_SECRET', use, 'defer'),
      // This one pushes again by itself, so an early job is sent back with the time left.
      yard: queue('/push/yard', 'demo-yard', 'YARD_PUSH_SECRET', use, 'refuse'),
    },
    destinations: {
      carrier: {
        url: process.env.CARRIER_URL ?? 'http://127.0.0.1:9103/pickups',
        idempotency: { header: 'Idempotency-Key', lifetime: '24h' },
        // A hold that may or may not stand at the carrier is a truck that may not come.
        reviewWindow: '1h',
        replayMarkers: [{ header: 'Idempotent-Replayed', value: 'true' }],
        timeouts: { total: '10s' },
        // The demo's carrier is on this machine. Leave it out for one that is not.
        allowPrivate: true,
      },
    },
  })
}

export default logisticsHolds({ every: '1m', grace: '1m' })
