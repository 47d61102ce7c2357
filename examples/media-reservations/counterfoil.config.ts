import { conditionalUpdate, defineConfig, hmacTimestamped, route, secret, z } from '@counterfoil/config'

const expiryEvent = z.object({
  type: z.literal('reservation.expire'),
  reservationId: z.string().min(1).max(100),
  titleId: z.string().min(1).max(100),
  expiresAt: z.iso.datetime({ offset: true }),
})

/** held → expired, when the row is due by the database clock. Paid stays paid (I8). */
export const expireReservation = conditionalUpdate({
  name: 'expire-reservation',
  table: 'media.reservation',
  from: 'held',
  to: 'expired',
  dueAtColumn: 'expires_at',
  sweep: { every: '1m', grace: '1m' },
})

export const mediaReservations = defineConfig({
  sources: {
    screenings: {
      path: '/push/screenings',
      verify: hmacTimestamped({
        signatureHeader: 'X-Delivery-Signature',
        timestampHeader: 'X-Delivery-Timestamp',
        tolerance: '5m',
      }),
      keys: [{ id: 'demo-screenings', secret: secret.env('SCREENINGS_PUSH_SECRET') }],
      deliveryId: { header: 'X-Delivery-ID' },
      eventType: { pointer: '/type' },
      redeliveryHorizon: '3d',
      ack: { senderTimeout: '10s', deadline: '2s' },
      routes: {
        'reservation.expire': route({
          schema: expiryEvent,
          references: ({ payload }) => ({ reservation: payload.reservationId }),
          transition: {
            use: expireReservation,
            subject: ({ payload }) => payload.reservationId,
            // The event's own deadline: a hold that was extended meanwhile is not expired by it.
            guard: ({ payload }) => payload.expiresAt,
            notDue: 'defer',
          },
        }),
      },
    },
  },
  destinations: {},
})

export default mediaReservations
