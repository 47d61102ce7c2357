import { generateKeyPairSync } from 'node:crypto'
import type { KeyMaterial, SigningKey } from '@counterfoil/core'
import {
  cloudEvents,
  cloudflare,
  cloudTasks,
  eventBridge,
  eventGrid,
  github,
  hubspot,
  intercom,
  type Preset,
  pubsub,
  qstash,
  shopify,
  slack,
  sns,
  standardWebhooks,
  stripe,
  twilio,
  zendesk,
} from '@counterfoil/sources'
import { makeCertificate, publishKey } from '@counterfoil/testkit'

/** A push before it is signed, for the delivery `id` in the sender's `attempt`. */
export type Draft = { readonly headers?: Readonly<Record<string, string>>; readonly body: string }

export type HandshakeCase = Draft & {
  readonly method?: 'OPTIONS'
  readonly answer: { readonly body: string; readonly headers?: Readonly<Record<string, string>> }
}

/** A sender: how its pushes look, and what it wants to hear. */
export type SourceCase = {
  readonly name: string
  readonly preset: Preset
  /** What signs, old and new. */
  readonly signingKeys: readonly [SigningKey, SigningKey]
  /** What verifies; the same unless the scheme is asymmetric. Empty: the keys are published. */
  readonly keys: readonly SigningKey[]
  /** What the evidence names the two keys. */
  readonly keyIds?: readonly [string, string]
  readonly draft: (id: string, attempt: number, key: SigningKey) => Draft
  /** Several deliveries in one push, where the sender has that. */
  readonly batch?: (ids: readonly string[]) => Draft
  readonly accepted: number
  readonly refused?: number
  /** A signed push that can never be used: status, and the word for "stop" where the sender has one. */
  readonly unusable?: { readonly status: number; readonly header?: readonly [string, string] }
  readonly handshake?: HandshakeCase
}

const OLD: SigningKey = { id: 'old', secret: Buffer.from('the old secret of this sender 0123') }
const NEW: SigningKey = { id: 'new', secret: Buffer.from('the new secret of this sender 4567') }
const pairs = [0, 1].map(() => generateKeyPairSync('rsa', { modulusLength: 2048 }))
const [oldPair, newPair] = pairs as [(typeof pairs)[number], (typeof pairs)[number]]
const privateKey = (id: string, pair: typeof oldPair): SigningKey => ({
  id,
  secret: Buffer.from(pair.privateKey.export({ format: 'pem', type: 'pkcs8' })),
})
const OLD_RSA = privateKey('rsa-old', oldPair)
const NEW_RSA = privateKey('rsa-new', newPair)
const certificateUrl = (key: SigningKey) =>
  `https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-${key === OLD_RSA ? 'o'.repeat(32) : 'n'.repeat(32)}.pem`
const certificates = new Map([
  [certificateUrl(OLD_RSA), makeCertificate(oldPair, 'old')],
  [certificateUrl(NEW_RSA), makeCertificate(newPair, 'new')],
])
const nameOf = (url: string) => url.slice(url.lastIndexOf('/') + 1)

/** What issuers publish, at hand: fetching has its own tests. */
export const PUBLISHED: KeyMaterial = {
  keySet: () => ({
    kind: 'found',
    keys: [publishKey(oldPair.publicKey, OLD_RSA.id), publishKey(newPair.publicKey, NEW_RSA.id)],
  }),
  certificate: (url) => {
    const pem = certificates.get(url)
    return pem === undefined ? { kind: 'missing', cause: 'http_404' } : { kind: 'found', pem }
  },
}

const json = (value: unknown, headers: Readonly<Record<string, string>> = {}): Draft => ({
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(value),
})
const text = (body: string, headers: Readonly<Record<string, string>> = {}): Draft => ({ headers, body })

const SHARED = { signingKeys: [OLD, NEW], keys: [OLD, NEW] } as const
const FETCHED = { signingKeys: [OLD_RSA, NEW_RSA], keys: [] } as const
const ACCOUNTS = { serviceAccounts: ['push@project.iam.gserviceaccount.com'] }
const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:orders'
const CONFIRM = `https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=${TOPIC}&Token=abc`

const ed25519 = [OLD, NEW].map(({ id }) => {
  const jwk = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  const half = (text: string | undefined) => ({ id, secret: Buffer.from(text ?? '', 'base64url') })
  return { signing: half(jwk.d), public: half(jwk.x) }
}) as [{ signing: SigningKey; public: SigningKey }, { signing: SigningKey; public: SigningKey }]

export const SOURCE_CASES: readonly SourceCase[] = [
  {
    name: 'standard-webhooks',
    preset: standardWebhooks(),
    ...SHARED,
    draft: (id) => json({ type: 'invoice.paid' }, { 'webhook-id': id }),
    accepted: 204,
    unusable: { status: 400, header: ['webhook-delivery', 'abort-message'] },
  },
  {
    name: 'standard-webhooks-public',
    preset: standardWebhooks({ keys: 'whpk' }),
    signingKeys: [ed25519[0].signing, ed25519[1].signing],
    keys: [ed25519[0].public, ed25519[1].public],
    draft: (id) => json({ type: 'invoice.paid' }, { 'webhook-id': id }),
    accepted: 204,
  },
  {
    name: 'github',
    preset: github(),
    ...SHARED,
    draft: (id) => json({ action: 'opened' }, { 'x-github-delivery': id, 'x-github-event': 'issues' }),
    accepted: 204,
    unusable: { status: 400 },
  },
  {
    name: 'stripe',
    preset: stripe(),
    ...SHARED,
    draft: (id, attempt) => json({ id: `evt_${id}`, type: 'charge.succeeded', pending_webhooks: 3 - attempt }),
    accepted: 204,
    unusable: { status: 400 },
  },
  {
    name: 'slack',
    preset: slack(),
    ...SHARED,
    draft: (id, attempt) =>
      json({ type: 'event_callback', event_id: id, event: { type: 'message' } }, retryNumber(attempt)),
    accepted: 200,
    unusable: { status: 400, header: ['x-slack-no-retry', '1'] },
    handshake: { ...json({ type: 'url_verification', challenge: 'c-1' }), answer: { body: 'c-1' } },
  },
  {
    name: 'shopify',
    preset: shopify(),
    ...SHARED,
    draft: (id) =>
      json({ id: 820982911946154508n.toString() }, { 'x-shopify-webhook-id': id, 'x-shopify-topic': 'orders/paid' }),
    accepted: 204,
    unusable: { status: 400 },
  },
  {
    name: 'zendesk',
    preset: zendesk(),
    ...SHARED,
    draft: (id) => json({ type: 'zen:event-type:ticket.created' }, { 'x-zendesk-webhook-invocation-id': id }),
    accepted: 204,
    unusable: { status: 400 },
  },
  {
    name: 'intercom',
    preset: intercom(),
    ...SHARED,
    draft: (id, attempt) => json({ id: `notif_${id}`, topic: 'conversation.user.created', delivery_attempts: attempt }),
    accepted: 200,
    unusable: { status: 400 },
    handshake: { ...json({ id: 'notif_ping', topic: 'ping' }), answer: { body: '' } },
  },
  {
    name: 'hubspot',
    preset: hubspot(),
    ...SHARED,
    draft: (id, attempt) =>
      json([
        {
          portalId: 1,
          eventId: id,
          subscriptionType: 'contact.creation',
          occurredAt: 1_767_225_600_000,
          attemptNumber: attempt,
        },
      ]),
    batch: (ids) =>
      json(ids.map((eventId) => ({ portalId: 1, eventId, subscriptionType: 'contact.creation', attemptNumber: 0 }))),
    accepted: 200,
    // Any 4xx would come again ten times: it is kept here instead.
    unusable: { status: 200 },
  },
  {
    name: 'twilio',
    preset: twilio(),
    ...SHARED,
    draft: (id) =>
      text(`MessageSid=SM1&MessageStatus=sent&To=%2B15550001111`, {
        'content-type': 'application/x-www-form-urlencoded',
        'i-twilio-idempotency-token': id,
      }),
    accepted: 204,
  },
  {
    name: 'twilio-twiml',
    preset: twilio({ reply: 'twiml' }),
    ...SHARED,
    draft: (id) => json({ CallSid: 'CA1' }, { 'i-twilio-idempotency-token': id }),
    accepted: 200,
  },
  {
    name: 'pubsub',
    preset: pubsub(ACCOUNTS),
    ...FETCHED,
    draft: (id, attempt) =>
      json({
        message: { data: Buffer.from('{"n":1}').toString('base64'), messageId: id },
        subscription: 'projects/p/subscriptions/s',
        deliveryAttempt: attempt,
      }),
    accepted: 204,
    // A 4xx would come again until the retention ends.
    unusable: { status: 204 },
  },
  {
    name: 'pubsub-unwrapped',
    preset: pubsub({ ...ACCOUNTS, payload: 'unwrapped_with_metadata' }),
    ...FETCHED,
    draft: (id) =>
      json(
        { n: 1 },
        { 'x-goog-pubsub-message-id': id, 'x-goog-pubsub-subscription-name': 'projects/p/subscriptions/s' },
      ),
    accepted: 204,
  },
  {
    name: 'cloud-tasks',
    preset: cloudTasks(ACCOUNTS),
    ...FETCHED,
    draft: (id, attempt) =>
      json(
        { n: 1 },
        {
          'x-cloudtasks-queuename': 'q',
          'x-cloudtasks-taskname': id,
          'x-cloudtasks-taskretrycount': String(attempt - 1),
        },
      ),
    accepted: 200,
    unusable: { status: 200 },
  },
  {
    name: 'sns',
    preset: sns({ topicArns: [TOPIC] }),
    ...FETCHED,
    keyIds: [nameOf(certificateUrl(OLD_RSA)), nameOf(certificateUrl(NEW_RSA))],
    draft: (id, _attempt, key) =>
      text(
        JSON.stringify({
          MessageId: id,
          Message: '{"n":1}',
          Timestamp: '2026-01-01T00:00:00.000Z',
          SigningCertURL: certificateUrl(key),
        }),
      ),
    accepted: 200,
    // To SNS any 4xx says "delivered": right only for a forgery.
    refused: 403,
    handshake: {
      ...text(
        JSON.stringify({
          Type: 'SubscriptionConfirmation',
          MessageId: 'confirm-1',
          Message: 'You have chosen to subscribe',
          SubscribeURL: CONFIRM,
          Token: 'abc',
          SigningCertURL: certificateUrl(OLD_RSA),
        }),
      ),
      answer: { body: '' },
    },
  },
  {
    name: 'event-bridge',
    preset: eventBridge(),
    ...SHARED,
    draft: (id) => json({ id, 'detail-type': 'Order Paid', detail: { n: 1 } }),
    accepted: 200,
    unusable: { status: 400 },
  },
  {
    name: 'qstash',
    preset: qstash(),
    ...SHARED,
    draft: (id, attempt) => json({ n: 1 }, { 'upstash-message-id': id, 'upstash-retried': String(attempt - 1) }),
    accepted: 200,
    unusable: { status: 489, header: ['upstash-nonretryable-error', 'true'] },
  },
  {
    name: 'event-grid',
    preset: eventGrid(),
    ...SHARED,
    draft: (id) => json([{ id, topic: '/subscriptions/s/topic', eventType: 'Order.Paid', data: { n: 1 } }]),
    batch: (ids) => json(ids.map((id) => ({ id, topic: '/subscriptions/s/topic', eventType: 'Order.Paid', data: {} }))),
    accepted: 200,
    unusable: { status: 400 },
    handshake: {
      ...json(
        [{ id: 'v', eventType: 'Microsoft.EventGrid.SubscriptionValidationEvent', data: { validationCode: 'code-1' } }],
        { 'aeg-event-type': 'SubscriptionValidation', 'aeg-subscription-name': 'ORDERS' },
      ),
      answer: { body: '{"validationResponse":"code-1"}' },
    },
  },
  {
    name: 'cloud-events',
    preset: cloudEvents(),
    ...SHARED,
    draft: (id) =>
      json({ n: 1 }, { 'ce-id': id, 'ce-source': '/orders', 'ce-type': 'order.paid', 'ce-specversion': '1.0' }),
    batch: (ids) =>
      json(
        ids.map((id) => ({ id, source: '/orders', type: 'order.paid', specversion: '1.0' })),
        { 'content-type': 'application/cloudevents-batch+json' },
      ),
    accepted: 202,
    unusable: { status: 400 },
    handshake: {
      method: 'OPTIONS',
      ...text('', { 'webhook-request-origin': 'eventgrid.azure.net' }),
      answer: { body: '', headers: { 'webhook-allowed-origin': 'eventgrid.azure.net', 'webhook-allowed-rate': '*' } },
    },
  },
  {
    name: 'cloudflare',
    preset: cloudflare(),
    ...SHARED,
    draft: (id) => json({ uid: id, status: { state: 'ready' } }),
    accepted: 200,
    unusable: { status: 400 },
  },
  {
    name: 'cloudflare-notifications',
    preset: cloudflare({ product: 'notifications' }),
    ...SHARED,
    draft: (id) => json({ alert_type: 'billing', id }),
    accepted: 200,
  },
]

function retryNumber(attempt: number): Readonly<Record<string, string>> {
  return attempt === 1 ? {} : { 'x-slack-retry-num': String(attempt - 1), 'x-slack-retry-reason': 'http_timeout' }
}
