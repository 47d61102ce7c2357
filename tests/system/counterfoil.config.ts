// What the end-to-end and fault tests run with: real schemes, one sink, times short enough for a test.
import { conditionalUpdate, type Duration, defineConfig, hmacTimestamped, route, secret, z } from '@counterfoil/config'

const { SINK_URL = 'http://127.0.0.1:1', SINK_CONCURRENCY = '16', SINK_TOTAL = '1s', SINK_LEASE = '6.1s' } = process.env

const event = z.object({ type: z.string(), subject: z.string(), note: z.string().optional() })
const references = ({ payload }: { payload: z.infer<typeof event> }) => ({ subject: payload.subject })

/** `retry.first` is short, so that a retry is seen within the test; the lease is as short as it may be. */
const destination = (path: string) => ({
  url: `${SINK_URL}${path}`,
  allowPrivate: true,
  concurrency: Number(SINK_CONCURRENCY),
  timeouts: { total: SINK_TOTAL as Duration },
  lease: SINK_LEASE as Duration,
  reviewWindow: '4h' as const,
  retry: { first: '200ms', cap: '1s', maxAttempts: 50 } as const,
})
const honoursKeys = { header: 'Idempotency-Key', lifetime: '24h' } as const
const replayMarkers = [{ header: 'Idempotent-Replayed', value: 'true' }]

const expireHold = conditionalUpdate({
  name: 'expire-hold',
  table: 'app.hold',
  from: 'held',
  to: 'expired',
  dueAtColumn: 'due_at',
  actions: (subject) => [{ destination: 'crm', idempotencyKey: `${subject}/expired`, body: { subject } }],
  sweep: false,
})

const ack = { senderTimeout: '10s', deadline: '2s' } as const

export default defineConfig({
  sources: {
    events: {
      path: '/push/events',
      verify: hmacTimestamped({ signatureHeader: 'X-Signature', timestampHeader: 'X-Timestamp', tolerance: '5m' }),
      keys: [
        { id: 'k1', secret: secret.env('EVENTS_SECRET') },
        // A rotation in every phase: a key whose time is over, one whose time has come, one of tomorrow.
        { id: 'k-over', secret: secret.env('EVENTS_SECRET_OVER'), notAfter: '2026-01-01T00:00:00Z' },
        { id: 'k2', secret: secret.env('EVENTS_SECRET_NEXT'), notBefore: '2026-01-01T00:00:00Z' },
        { id: 'k-later', secret: secret.env('EVENTS_SECRET_LATER'), notBefore: '2999-01-01T00:00:00Z' },
      ],
      deliveryId: { header: 'X-Delivery-ID' },
      eventType: { pointer: '/type' },
      redeliveryHorizon: '3d',
      ack,
      routes: {
        notify: route({
          schema: event,
          references,
          actions: ({ payload }) => [
            { destination: 'crm', idempotencyKey: `${payload.subject}/notify`, body: { about: payload.subject } },
          ],
        }),
        tell_both: route({
          schema: event,
          references,
          actions: ({ payload }) => [
            { destination: 'crm', idempotencyKey: `${payload.subject}/crm`, body: { about: payload.subject } },
            { destination: 'audit', idempotencyKey: `${payload.subject}/audit`, body: { seen: payload.subject } },
          ],
        }),
        mail: route({
          schema: event,
          references,
          actions: ({ payload }) => [
            { destination: 'mailer', idempotencyKey: `${payload.subject}/mail`, body: { to: payload.subject } },
          ],
        }),
        expire: route({
          schema: event,
          references,
          transition: { use: expireHold, subject: ({ payload }) => payload.subject, notDue: 'defer' },
        }),
      },
    },
  },
  destinations: {
    crm: { ...destination('/crm'), idempotency: honoursKeys, replayMarkers },
    audit: { ...destination('/audit'), idempotency: honoursKeys, replayMarkers },
    // Knows no repeat: a doubtful send is never made again by itself.
    mailer: { ...destination('/mailer'), idempotency: 'none' },
  },
  operators: { ana: { token: secret.env('ANA_TOKEN') } },
})
