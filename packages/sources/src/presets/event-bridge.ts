import { createStaticTokenScheme } from '@counterfoil/core'
import type { Preset } from '../preset.js'
import { definePreset } from './define-preset.js'
import { pointer } from './places.js'

export type EventBridgeOptions = {
  /** As in the connection: an API key in this header, or `basic` with `user:password` as the secret. Default `x-api-key`. */
  readonly authorization?: 'basic' | { readonly header: string }
}

/** API destinations. An input transformer must keep `id`: without it nothing tells a repeat. */
export function eventBridge(options: EventBridgeOptions = {}): Preset {
  const { authorization = { header: 'x-api-key' } } = options
  return definePreset({
    name: 'eventBridge',
    scheme: createStaticTokenScheme(
      authorization === 'basic' ? { kind: 'basic' } : { kind: 'header', header: authorization.header },
    ),
    deliveryId: pointer('/id'),
    eventType: pointer('/detail-type'),
    eventTime: pointer('/time'),
    horizonDays: 35,
    ack: { status: 200, timeoutS: 5 },
  })
}
