import { defineConfig, hmacBody, route, secret, z } from '@counterfoil/config'

const ticketEvent = z.object({
  type: z.enum(['ticket.updated', 'ticket.solved']),
  /** Stable for one thing that happened to the ticket: two deliveries may tell the same event. */
  eventId: z.string().min(1).max(100),
  ticketId: z.string().min(1).max(100),
  customer: z.string().min(1).max(200),
  summary: z.string().max(500),
})

type TicketEvent = z.infer<typeof ticketEvent>

/** The business key is made of the ticket's event and our action, never of the delivery id (I3). */
const updateCrm = (event: TicketEvent) => ({
  destination: 'crm',
  idempotencyKey: `${event.eventId}/update`,
  body: { about: event.ticketId, event: event.eventId, customer: event.customer, summary: event.summary },
})

const mailSurvey = (event: TicketEvent) => ({
  destination: 'mailer',
  idempotencyKey: `${event.eventId}/survey`,
  body: { about: event.ticketId, to: event.customer, template: 'how-did-we-do' },
})

/** Searchable by ticket; the customer too, but a personal value never reaches a log line (I10). */
const references = ({ payload }: { payload: TicketEvent }) => ({
  ticket: payload.ticketId,
  customer: { value: payload.customer, personal: true },
})

export const supportNotifications = defineConfig({
  sources: {
    tickets: {
      path: '/push/tickets',
      verify: hmacBody({ signatureHeader: 'X-Webhook-Signature' }),
      keys: [{ id: 'demo-tickets', secret: secret.env('TICKETS_PUSH_SECRET') }],
      deliveryId: { header: 'X-Delivery-ID' },
      eventType: { pointer: '/type' },
      redeliveryHorizon: '3d',
      ack: { senderTimeout: '10s', deadline: '2s' },
      routes: {
        'ticket.updated': route({ schema: ticketEvent, references, actions: ({ payload }) => [updateCrm(payload)] }),
        'ticket.solved': route({
          schema: ticketEvent,
          references,
          actions: ({ payload }) => [updateCrm(payload), mailSurvey(payload)],
        }),
      },
    },
  },
  destinations: {
    crm: {
      url: process.env.CRM_URL ?? 'http://127.0.0.1:9101/notifications',
      headers: { Authorization: secret.env('CRM_TOKEN', { prefix: 'Bearer ' }) },
      idempotency: { header: 'Idempotency-Key', lifetime: '24h' },
      // Support promises an answer within a day: a doubt has to be looked at well before.
      reviewWindow: '4h',
      // The CRM says so when it had seen a key before; without this an accepted repeat looks like a first time.
      replayMarkers: [{ header: 'Idempotent-Replayed', value: 'true' }],
      timeouts: { total: '10s' },
      // The demo's CRM is on this machine. Leave it out for one that is not.
      allowPrivate: true,
    },
    mailer: {
      url: process.env.MAILER_URL ?? 'http://127.0.0.1:9102/mails',
      // It recognises no repeat, so a doubtful send is never repeated by itself: a person decides (I6).
      idempotency: 'none',
      reviewWindow: '4h',
      timeouts: { total: '10s' },
      allowPrivate: true,
    },
  },
})

export default supportNotifications
