import type { Preset } from '../preset.js'
import { stripeScheme, type Tolerance } from '../sender-schemes.js'
import { definePreset } from './define-preset.js'
import { pointer } from './places.js'

/** Stripe's events, thin ones included. One change may come as two events: make the business key of type and object. */
export function stripe(options: Tolerance = {}): Preset {
  return definePreset({
    name: 'stripe',
    scheme: stripeScheme(options),
    deliveryId: pointer('/id'),
    eventType: pointer('/type'),
    eventTime: pointer('/created'),
    // Counts the endpoints that have not answered yet.
    volatilePointers: ['/pending_webhooks'],
    horizonDays: 35,
    ack: { timeoutS: 10 },
  })
}
