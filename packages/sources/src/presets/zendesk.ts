import type { Preset } from '../preset.js'
import { type Tolerance, zendeskScheme } from '../sender-schemes.js'
import { definePreset } from './define-preset.js'
import { firstOf, header, pointer } from './places.js'

export function zendesk(options: Tolerance = {}): Preset {
  return definePreset({
    name: 'zendesk',
    scheme: zendeskScheme(options),
    decode: { whenForm: 'form', otherwise: 'json' },
    deliveryId: firstOf(header('x-zendesk-webhook-invocation-id'), pointer('/id')),
    eventType: pointer('/type'),
    eventTime: pointer('/time'),
    horizonDays: 7,
    ack: { timeoutS: 10 },
  })
}
