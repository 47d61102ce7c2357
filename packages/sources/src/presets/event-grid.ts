import { type Handshake, readHeader, splitJsonList } from '@counterfoil/core'
import type { Preset } from '../preset.js'
import { definePreset } from './define-preset.js'
import { composite, header, needed, pointer } from './places.js'
import { readText } from './read-text.js'
import { createAuthScheme, noteAuth, type WebhookAuth } from './webhook-auth.js'

export type EventGridOptions = {
  /** Default: a secret in the header `aeg-sas-key`. */
  readonly auth?: WebhookAuth
  /** Only these subscriptions are validated. Default: whichever has the right secret or token. */
  readonly subscriptions?: readonly string[]
}

const VALIDATION = 'Microsoft.EventGrid.SubscriptionValidationEvent'
const CODE = /^[\x21-\x7e]{1,256}$/

/** Event Grid in its own schema; for CloudEvents use `cloudEvents`. */
export function eventGrid(options: EventGridOptions = {}): Preset {
  const { auth = { kind: 'header', header: 'aeg-sas-key' } } = options
  return definePreset({
    name: 'eventGrid',
    scheme: createAuthScheme(auth),
    split: splitJsonList('is_one'),
    handshakes: [validation(options.subscriptions ?? null)],
    deliveryId: composite(needed(pointer('/topic')), needed(pointer('/id'))),
    senderAttempt: header('aeg-delivery-count'),
    eventType: pointer('/eventType'),
    eventTime: pointer('/eventTime'),
    bodyLimitBytes: 2 * 1_048_576,
    horizonDays: 7,
    ack: { status: 200, timeoutS: 30 },
    notes: noteAuth(auth),
  })
}

function validation(subscriptions: readonly string[] | null): Handshake {
  const expected = subscriptions === null ? null : new Set(subscriptions.map((name) => name.toLowerCase()))
  const name = 'subscription_validation'
  return {
    when: 'after_verification',
    methods: ['POST'],
    answer: ({ request, document }) => {
      const type = readHeader(request.headers, 'aeg-event-type')
      if (type.kind !== 'found' || type.value !== 'SubscriptionValidation') return null
      const subscription = readHeader(request.headers, 'aeg-subscription-name')
      const given = subscription.kind === 'found' ? String(subscription.value).toLowerCase() : ''
      if (expected !== null && !expected.has(given)) return { name, status: 403, headers: {}, body: null }
      const code = readCode(document)
      if (code === null) return { name, status: 400, headers: {}, body: null }
      const body = JSON.stringify({ validationResponse: code })
      return { name, status: 200, headers: { 'content-type': 'application/json' }, body }
    },
  }
}

function readCode(document: unknown): string | null {
  const event: unknown = Array.isArray(document) && document.length === 1 ? document[0] : null
  if (readText(event, 'eventType') !== VALIDATION) return null
  const code = readText((event as { readonly data?: unknown }).data, 'validationCode')
  return code !== null && CODE.test(code) ? code : null
}
