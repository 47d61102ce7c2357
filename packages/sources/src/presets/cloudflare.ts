import { createStaticTokenScheme } from '@counterfoil/core'
import type { Preset } from '../preset.js'
import { cloudflareScheme, type Tolerance } from '../sender-schemes.js'
import { definePreset } from './define-preset.js'
import { firstOf, pointer } from './places.js'

export type CloudflareOptions = Tolerance & {
  /** `stream` signs; `notifications` carry a secret in `cf-webhook-auth` and sign nothing. Default `stream`. */
  readonly product?: 'stream' | 'notifications'
}

/** Cloudflare gives its webhooks no id, so that equal bodies are one delivery. */
export function cloudflare(options: CloudflareOptions = {}): Preset {
  const signs = options.product !== 'notifications'
  return definePreset({
    name: 'cloudflare',
    scheme: signs ? cloudflareScheme(options) : createStaticTokenScheme({ kind: 'header', header: 'cf-webhook-auth' }),
    deliveryId: { kind: 'body_digest' },
    eventType: signs ? pointer('/status/state') : pointer('/alert_type'),
    eventTime: firstOf(pointer('/modified'), pointer('/ts')),
    horizonDays: 7,
    ack: { status: 200, timeoutS: 10 },
  })
}
