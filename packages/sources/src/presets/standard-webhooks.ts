import type { AnswerOverrides } from '@counterfoil/core'
import type { Preset } from '../preset.js'
import { standardWebhooksPublicScheme, standardWebhooksScheme, type Tolerance } from '../sender-schemes.js'
import { definePreset } from './define-preset.js'
import { firstOf, header, pointer } from './places.js'

export type StandardWebhooksOptions = Tolerance & {
  /** `whsec`: shared secrets (`v1`). `whpk`: ed25519 public keys (`v1a`). Never both. Default `whsec`. */
  readonly keys?: 'whsec' | 'whpk'
}

/** Svix stops repeating a message at this header; to others it says nothing. */
const ABORT = { 'webhook-delivery': 'abort-message' } as const
const ANSWERS: AnswerOverrides = {
  malformed: { status: 400, headers: ABORT },
  conflict: { status: 409, headers: ABORT },
  tooLarge: { status: 413, headers: ABORT },
}

/** Whoever follows Standard Webhooks, Svix included. */
export function standardWebhooks(options: StandardWebhooksOptions = {}): Preset {
  return definePreset({
    name: 'standardWebhooks',
    scheme: options.keys === 'whpk' ? standardWebhooksPublicScheme(options) : standardWebhooksScheme(options),
    deliveryId: firstOf(header('webhook-id'), header('svix-id')),
    eventType: pointer('/type'),
    eventTime: pointer('/timestamp'),
    answers: ANSWERS,
    horizonDays: 30,
    ack: { timeoutS: 15 },
  })
}

export const svix = standardWebhooks
