import type { Preset } from '../preset.js'
import { type GoogleOptions, googleScheme } from '../token-schemes.js'
import { definePreset, KEPT_HERE, type PresetDraft } from './define-preset.js'
import { noteServiceAccounts, readGoogleOptions } from './google-options.js'
import { composite, firstOf, header, needed, pointer } from './places.js'

export type PubSubOptions = GoogleOptions & {
  /** Unwrapped needs `write_metadata`: without it a message has no id, so there is no such choice. Default `wrapped`. */
  readonly payload?: 'wrapped' | 'unwrapped_with_metadata'
}

type Places = Pick<PresetDraft, 'decode' | 'deliveryId' | 'eventType' | 'eventTime' | 'orderingKey'> &
  Partial<Pick<PresetDraft, 'senderAttempt' | 'volatilePointers'>>

const attribute = (name: string) => pointer(`/message/attributes/${name}`)

const WRAPPED: Places = {
  decode: 'pubsub_wrapped',
  deliveryId: composite(
    needed(pointer('/subscription')),
    needed(firstOf(pointer('/message/messageId'), pointer('/message/message_id'))),
  ),
  senderAttempt: pointer('/deliveryAttempt'),
  eventType: firstOf(attribute('ce-type'), attribute('eventType')),
  eventTime: firstOf(pointer('/message/publishTime'), pointer('/message/publish_time')),
  orderingKey: pointer('/message/orderingKey'),
  volatilePointers: ['/deliveryAttempt'],
}

const UNWRAPPED: Places = {
  decode: 'json',
  deliveryId: composite(needed(header('x-goog-pubsub-subscription-name')), needed(header('x-goog-pubsub-message-id'))),
  eventType: firstOf(header('ce-type'), header('eventtype')),
  eventTime: header('x-goog-pubsub-publish-time'),
  orderingKey: header('x-goog-pubsub-ordering-key'),
}

/** Whatever is not acked comes again until the retention ends, whether 4xx or 5xx. */
export function pubsub(options: PubSubOptions): Preset {
  const { payload = 'wrapped', ...google } = readGoogleOptions(options ?? {}) as PubSubOptions
  return definePreset({
    name: 'pubsub',
    scheme: googleScheme(google),
    ...(payload === 'wrapped' ? WRAPPED : UNWRAPPED),
    // A message of 10 MB is a third longer in base64.
    bodyLimitBytes: 16 * 1_048_576,
    horizonDays: 35,
    ack: { ...KEPT_HERE, timeoutS: 10 },
    notes: noteServiceAccounts(google),
  })
}
