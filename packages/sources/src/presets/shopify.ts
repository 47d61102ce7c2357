import type { Preset } from '../preset.js'
import { shopifyScheme } from '../sender-schemes.js'
import { definePreset } from './define-preset.js'
import { firstOf, header } from './places.js'

const named = (name: string) => firstOf(header(`x-shopify-${name}`), header(`shopify-${name}`))

/** Several subscriptions to one topic share the event id, so the id of the webhook is the delivery. */
export function shopify(): Preset {
  return definePreset({
    name: 'shopify',
    scheme: shopifyScheme(),
    deliveryId: named('webhook-id'),
    eventType: named('topic'),
    eventTime: named('triggered-at'),
    bodyLimitBytes: 4 * 1_048_576,
    horizonDays: 7,
    ack: { timeoutS: 5 },
  })
}
