import { answerHandshake, type PlanResult } from '@counterfoil/core'
import { describe, expect, test } from 'vitest'
import type { Preset } from './preset.js'
import * as presets from './presets.js'
import { planSigned, planVerified, type TestPush } from './testing/preset-push.js'
import { GOOGLE } from './testing/signing.js'

const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:orders'
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const ENTRA = { kind: 'entra', tenant: 'contoso', audience: ['api://cf'], applications: ['app-1'] } as const
const pubsub = presets.pubsub(GOOGLE)
const sns = presets.sns({ topicArns: [TOPIC] })
const hubspotEvent = { portalId: 1, appId: 2, subscriptionId: 3, eventId: 4, objectId: 5, attemptNumber: 0 }
const contact = { ...hubspotEvent, subscriptionType: 'contact.creation', occurredAt: 1_767_225_600_000 }
const gridEvent = { topic: '/t', id: 'e1', eventType: 'Created', eventTime: '2026-01-01T00:00:00Z', data: {} }
const message = { messageId: '7', data: 'eyJuIjoxfQ==', attributes: { eventType: 'paid' }, orderingKey: 'o-1' }
const pubsubPush = { subscription: 'projects/p/subscriptions/s', deliveryAttempt: 2, message }
const snsPush = {
  Type: 'Notification',
  MessageId: 'm-1',
  TopicArn: TOPIC,
  Message: '{}',
  Timestamp: '2026-01-01T00:00:00Z',
}

const idOf = (plan: PlanResult) =>
  plan.kind === 'planned' ? plan.push.deliveries.map((d) => [d.deliveryId, d.eventType]) : plan

const CASES: readonly [string, Preset, TestPush, readonly (readonly [string, string | null])[]][] = [
  [
    'Standard Webhooks',
    presets.standardWebhooks(),
    { headers: { 'webhook-id': 'msg_1' }, body: { type: 'a.b' } },
    [['msg_1', 'a.b']],
  ],
  [
    'GitHub',
    presets.github(),
    { headers: { 'x-github-delivery': 'g-1', 'x-github-event': 'push' }, body: {} },
    [['g-1', 'push']],
  ],
  [
    'GitHub as a form',
    presets.github(),
    { headers: { ...FORM, 'x-github-delivery': 'g-1', 'x-github-event': 'push' }, body: 'payload=%7B%7D' },
    [['g-1', 'push']],
  ],
  [
    'Stripe',
    presets.stripe(),
    { body: { id: 'evt_1', type: 'invoice.paid', created: 1_767_225_600 } },
    [['evt_1', 'invoice.paid']],
  ],
  [
    'Slack',
    presets.slack(),
    { body: { type: 'event_callback', event_id: 'Ev1', event: { type: 'message' } } },
    [['Ev1', 'message']],
  ],
  ["Slack's slash command", presets.slack(), { headers: FORM, body: 'command=%2Fgo&trigger_id=1.2' }, [['1.2', '/go']]],
  [
    "Slack's interaction",
    presets.slack(),
    { headers: FORM, body: `payload=${encodeURIComponent('{"type":"block_actions","trigger_id":"9"}')}` },
    [['9', 'block_actions']],
  ],
  [
    'Shopify',
    presets.shopify(),
    { headers: { 'x-shopify-webhook-id': 's-1', 'x-shopify-topic': 'orders/paid' }, body: {} },
    [['s-1', 'orders/paid']],
  ],
  [
    "Shopify's newer names",
    presets.shopify(),
    { headers: { 'shopify-webhook-id': 's-1', 'shopify-topic': 'orders/paid' }, body: {} },
    [['s-1', 'orders/paid']],
  ],
  [
    'Zendesk',
    presets.zendesk(),
    { headers: { 'x-zendesk-webhook-invocation-id': 'z-1' }, body: { type: 'zen:event', id: 'e' } },
    [['z-1', 'zen:event']],
  ],
  [
    'Intercom',
    presets.intercom(),
    { body: { id: 'notif_1', topic: 'user.created', delivery_attempts: 1 } },
    [['notif_1', 'user.created']],
  ],
  [
    'HubSpot',
    presets.hubspot(),
    { body: [contact, { ...contact, eventId: 9 }] },
    [
      ['1:2:3:4:5:::contact.creation::1767225600000', 'contact.creation'],
      ['1:2:3:9:5:::contact.creation::1767225600000', 'contact.creation'],
    ],
  ],
  [
    'Twilio',
    presets.twilio(),
    { headers: { ...FORM, 'i-twilio-idempotency-token': 't1' }, body: 'MessageSid=SM1&MessageStatus=sent' },
    [['t1:SM1:sent', 'sent']],
  ],
  ['Pub/Sub', pubsub, { body: pubsubPush }, [['projects/p/subscriptions/s:7', 'paid']]],
  [
    'Pub/Sub unwrapped',
    presets.pubsub({ ...GOOGLE, payload: 'unwrapped_with_metadata' }),
    {
      headers: { 'x-goog-pubsub-subscription-name': 's', 'x-goog-pubsub-message-id': '7', eventtype: 'paid' },
      body: {},
    },
    [['s:7', 'paid']],
  ],
  [
    'Cloud Tasks',
    presets.cloudTasks(GOOGLE),
    { headers: { 'x-cloudtasks-queuename': 'q', 'x-cloudtasks-taskname': '77' }, body: {} },
    [['q:77', null]],
  ],
  ['EventBridge', presets.eventBridge(), { body: { id: 'b-1', 'detail-type': 'Order' } }, [['b-1', 'Order']]],
  ['QStash', presets.qstash(), { headers: { 'upstash-message-id': 'q-1' }, body: {} }, [['q-1', null]]],
  [
    'Event Grid',
    presets.eventGrid(),
    { body: [gridEvent, { ...gridEvent, id: 'e2' }] },
    [
      ['/t:e1', 'Created'],
      ['/t:e2', 'Created'],
    ],
  ],
  ['Event Grid with Entra', presets.eventGrid({ auth: ENTRA }), { body: [gridEvent] }, [['/t:e1', 'Created']]],
  [
    'CloudEvents in binary mode',
    presets.cloudEvents(),
    { headers: { 'ce-id': '1', 'ce-source': '/s', 'ce-type': 't' }, body: [1, 2] },
    [['/s:1', 't']],
  ],
  [
    'CloudEvents in structured mode',
    presets.cloudEvents(),
    { headers: { 'content-type': 'application/cloudevents+json' }, body: { id: '1', source: '/s', type: 't' } },
    [['/s:1', 't']],
  ],
  [
    'a batch of CloudEvents',
    presets.cloudEvents(),
    {
      headers: { 'content-type': 'application/cloudevents-batch+json' },
      body: [
        { id: '1', source: '/s', type: 't' },
        { id: '2', source: '/s', type: 't' },
      ],
    },
    [
      ['/s:1', 't'],
      ['/s:2', 't'],
    ],
  ],
  [
    "Cloudflare's notifications",
    presets.cloudflare({ product: 'notifications' }),
    { body: { alert_type: 'a' } },
    [[expect.stringMatching(/^digest:/) as unknown as string, 'a']],
  ],
]

describe('a signed push', () => {
  test.each(CASES)('of %s has the id and type that its sender means', async (_title, preset, push, expected) => {
    expect(idOf(await planSigned(preset, push))).toEqual(expected)
  })

  test('of SNS has the id of its message', () => {
    expect(idOf(planVerified(sns, { body: snsPush }))).toEqual([['m-1', null]])
  })

  test('of Pub/Sub carries attempt, time and ordering key, and repeats are the same delivery', async () => {
    const plans = await Promise.all(
      [1, 5].map((n) => planSigned(pubsub, { body: { ...pubsubPush, deliveryAttempt: n } })),
    )
    const [first, again] = plans.map((plan) => (plan.kind === 'planned' ? plan.push.deliveries[0] : undefined))
    expect(first).toMatchObject({ senderAttempt: 1, senderOrderingKey: 'o-1' })
    expect(again).toMatchObject({ senderAttempt: 5, identityDigest: first?.identityDigest })
  })

  test('of HubSpot is kept as quarantined where one event has no id', async () => {
    const plan = await planSigned(presets.hubspot(), { body: [contact, {}] })
    const kinds = plan.kind === 'planned' ? plan.push.deliveries.map((d) => d.disposition.kind) : []
    expect(kinds).toEqual(['ignored', 'quarantined'])
  })
})

describe('a handshake', () => {
  const handshake = (plan: PlanResult) => (plan.kind === 'handshake' ? plan.answer : plan)

  test('of Slack gets its challenge back as text', async () => {
    const asked = await planSigned(presets.slack(), { body: { type: 'url_verification', challenge: 'c-1' } })
    expect(handshake(asked)).toMatchObject({ name: 'url_verification', status: 200, body: 'c-1' })
  })

  test('of Intercom is a ping', async () => {
    expect(handshake(await planSigned(presets.intercom(), { body: { topic: 'ping' } }))).toMatchObject({ name: 'ping' })
  })

  test("of SNS is confirmed at Amazon's own address only, and leaving is never undone", () => {
    const url = 'https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=a&Token=b'
    const ask = (changes: object) => handshake(planVerified(sns, { body: { ...snsPush, ...changes } }))
    expect(ask({ Type: 'SubscriptionConfirmation', SubscribeURL: url })).toMatchObject({
      status: 200,
      confirm: { url },
    })
    const evil = ask({ Type: 'SubscriptionConfirmation', SubscribeURL: 'https://evil.test/' })
    expect(evil).toEqual({ name: 'subscription_confirmation', status: 403, headers: {}, body: null })
    const leaving = ask({ Type: 'UnsubscribeConfirmation', SubscribeURL: url })
    expect(leaving).toEqual({ name: 'unsubscribe_confirmation', status: 200, headers: {}, body: null })
  })

  test('of Event Grid gets its code back, for expected subscriptions only', async () => {
    const data = { validationCode: 'code-1' }
    const body = [{ ...gridEvent, eventType: 'Microsoft.EventGrid.SubscriptionValidationEvent', data }]
    const headers = { 'aeg-event-type': 'SubscriptionValidation', 'aeg-subscription-name': 'ORDERS' }
    const ask = async (subscriptions: readonly string[]) =>
      handshake(await planSigned(presets.eventGrid({ subscriptions }), { headers, body }))
    expect(await ask(['orders'])).toMatchObject({ status: 200, body: '{"validationResponse":"code-1"}' })
    expect(await ask(['others'])).toMatchObject({ status: 403, body: null })
  })

  test('of CloudEvents is a consent by OPTIONS, and silence is a refusal', () => {
    const ask = (preset: Preset, origin: string) => {
      const headers = new Map([['webhook-request-origin', [origin]]])
      const request = { method: 'OPTIONS', publicUrl: null, query: '', headers, rawBody: Buffer.alloc(0) }
      const input = { request, verified: null, document: undefined }
      return answerHandshake(preset.contract.handshakes, 'before_verification', input)
    }
    expect(ask(presets.cloudEvents(), 'eventgrid.azure.net')?.headers).toEqual({
      allow: 'POST',
      'webhook-allowed-origin': 'eventgrid.azure.net',
      'webhook-allowed-rate': '*',
    })
    expect(ask(presets.cloudEvents({ origins: ['a.test'], ratePerMinute: 9 }), 'A.test')).toMatchObject({ status: 200 })
    expect(ask(presets.cloudEvents({ origins: ['a.test'] }), 'b.test')).toBeNull()
    expect(ask(presets.cloudEvents(), 'a\tb')).toBeNull()
  })
})
