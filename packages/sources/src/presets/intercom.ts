import type { Handshake } from '@counterfoil/core'
import type { Preset } from '../preset.js'
import { intercomScheme } from '../sender-schemes.js'
import { definePreset } from './define-preset.js'
import { pointer } from './places.js'
import { readText } from './read-text.js'

const ping: Handshake = {
  when: 'after_verification',
  methods: ['POST'],
  answer: ({ document }) =>
    readText(document, 'topic') === 'ping' ? { name: 'ping', status: 200, headers: {}, body: null } : null,
}

export function intercom(): Preset {
  return definePreset({
    name: 'intercom',
    scheme: intercomScheme(),
    handshakes: [ping],
    deliveryId: pointer('/id'),
    senderAttempt: pointer('/delivery_attempts'),
    eventType: pointer('/topic'),
    eventTime: pointer('/created_at'),
    volatilePointers: ['/delivery_attempts', '/delivery_status', '/delivered_at'],
    horizonDays: 14,
    ack: { status: 200, timeoutS: 5 },
  })
}
