import { type Handshake, readContentType, readHeader, type Split, splitJsonList } from '@counterfoil/core'
import type { Preset } from '../preset.js'
import { definePreset } from './define-preset.js'
import { composite, firstOf, header, needed, pointer } from './places.js'
import { createAuthScheme, noteAuth, type WebhookAuth } from './webhook-auth.js'

export type CloudEventsOptions = {
  /** Default: a secret as bearer token. */
  readonly auth?: WebhookAuth
  /** Who may send after asking by OPTIONS. Default: everybody, since each push is verified all the same. */
  readonly origins?: readonly string[]
  /** Requests per minute that senders are told. Default: as many as they like. */
  readonly ratePerMinute?: number
}

const BATCH = /^application\/cloudevents-batch(?:\+json)?[ \t]*(?:;|$)/i
const ORIGIN = /^[A-Za-z0-9.:_-]{1,253}$/
const splitList = splitJsonList('is_malformed')

/** A list is a batch only where its content type says so: in binary mode it is the data of one event. */
const splitBatch: Split = (document, json, headers) =>
  BATCH.test(readContentType(headers) ?? '') ? splitList(document, json, headers) : { kind: 'whole' }

const attribute = (name: string) => firstOf(header(`ce-${name}`), pointer(`/${name}`))

/** CloudEvents over HTTP in binary, structured and batched mode, Event Grid's included. */
export function cloudEvents(options: CloudEventsOptions = {}): Preset {
  const { auth = { kind: 'header', header: 'authorization', prefix: 'Bearer ' } } = options
  return definePreset({
    name: 'cloudEvents',
    scheme: createAuthScheme(auth),
    decode: 'cloud_event',
    split: splitBatch,
    handshakes: [consent(options.origins ?? null, options.ratePerMinute ?? null)],
    deliveryId: composite(needed(attribute('source')), needed(attribute('id'))),
    senderAttempt: header('aeg-delivery-count'),
    eventType: attribute('type'),
    eventTime: attribute('time'),
    orderingKey: attribute('partitionkey'),
    bodyLimitBytes: 2 * 1_048_576,
    horizonDays: 7,
    ack: { status: 202, timeoutS: 30 },
    notes: noteAuth(auth),
  })
}

/** To refuse is to say nothing of it: the receiver then answers 405. */
function consent(origins: readonly string[] | null, ratePerMinute: number | null): Handshake {
  const known = origins === null ? null : new Set(origins.map((origin) => origin.toLowerCase()))
  return {
    when: 'before_verification',
    methods: ['OPTIONS'],
    answer: ({ request }) => {
      const asked = readHeader(request.headers, 'webhook-request-origin')
      const origin = asked.kind === 'found' ? String(asked.value) : ''
      if (!ORIGIN.test(origin) || (known !== null && !known.has(origin.toLowerCase()))) return null
      const headers = {
        allow: 'POST',
        'webhook-allowed-origin': origin,
        'webhook-allowed-rate': ratePerMinute === null ? '*' : String(ratePerMinute),
      }
      return { name: 'webhook_consent', status: 200, headers, body: null }
    },
  }
}
