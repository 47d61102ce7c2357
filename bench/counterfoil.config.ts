import { defineConfig, hmacTimestamped, route, secret, z } from '@counterfoil/config'

const ticket = z.object({
  type: z.string(),
  ticket: z.string(),
  customer: z.string(),
  id: z.string(),
  note: z.string(),
})

/** One delivery, one entry, two references a push: what the pgbench script writes, too. */
export default defineConfig({
  sources: {
    bench: {
      path: '/push/bench',
      verify: hmacTimestamped({
        signatureHeader: 'x-delivery-signature',
        timestampHeader: 'x-delivery-timestamp',
      }),
      keys: [{ id: 'demo-bench', secret: secret.env('BENCH_SECRET') }],
      deliveryId: { header: 'x-delivery-id' },
      eventType: { pointer: '/type' },
      redeliveryHorizon: '1d',
      ack: { senderTimeout: '30s', deadline: '10s' },
      routes: {
        'ticket.updated': route({
          schema: ticket,
          references: ({ payload }) => ({ ticket: payload.ticket, customer: payload.customer }),
          actions: ({ payload }) => [
            {
              destination: 'sink',
              idempotencyKey: `${payload.id}:notify`,
              body: { about: payload.ticket, note: payload.note },
            },
          ],
        }),
      },
    },
  },
  destinations: {
    sink: {
      url: process.env.SINK_URL ?? 'http://127.0.0.1:9/',
      idempotency: { header: 'Idempotency-Key', lifetime: '24h' },
      reviewWindow: '4h',
      concurrency: 256,
      allowPrivate: true,
    },
  },
})
