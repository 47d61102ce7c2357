import { splitJsonList } from '@counterfoil/core'
import type { Preset, PresetNote } from '../preset.js'
import { hubspotLegacyScheme, hubspotScheme, type Tolerance } from '../sender-schemes.js'
import { definePreset, KEPT_HERE } from './define-preset.js'
import { composite, needed, optional, pointer } from './places.js'

export type HubspotOptions = Tolerance & {
  /** The older signatures are plain hashes without a time. Default `v3`. */
  readonly signature?: 'v3' | 'v2' | 'v1'
}

const OLD: PresetNote = {
  severity: 'warning',
  option: 'preset.signature',
  message: 'v1 and v2 are plain hashes and no HMAC, kept for old apps; HubSpot sends v3 as well, so use that',
}

/** A push is a list of up to 100 events; HubSpot's own event id is not unique, so the id is made of what together is. */
export function hubspot(options: HubspotOptions = {}): Preset {
  const { signature = 'v3' } = options
  return definePreset({
    name: 'hubspot',
    scheme: signature === 'v3' ? hubspotScheme(options) : hubspotLegacyScheme(signature),
    split: splitJsonList('is_one'),
    deliveryId: composite(
      needed(pointer('/portalId')),
      optional(pointer('/appId')),
      optional(pointer('/subscriptionId')),
      needed(pointer('/eventId')),
      optional(pointer('/objectId')),
      optional(pointer('/fromObjectId')),
      optional(pointer('/toObjectId')),
      needed(pointer('/subscriptionType')),
      optional(pointer('/propertyName')),
      needed(pointer('/occurredAt')),
    ),
    senderAttempt: pointer('/attemptNumber'),
    eventType: pointer('/subscriptionType'),
    eventTime: pointer('/occurredAt'),
    volatilePointers: ['/attemptNumber'],
    horizonDays: 7,
    ack: { ...KEPT_HERE, status: 200, timeoutS: 5 },
    notes: signature === 'v3' ? [] : [OLD],
  })
}
