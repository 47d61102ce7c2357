import { type Malformed, malformed } from './malformed.js'
import { parseInstant } from './parse-instant.js'
import { type Readable, readValue } from './read-value.js'
import { isStorableText } from './sanitise-text.js'
import type { SourceContract } from './source-contract.js'

const MAX_EVENT_TYPE_BYTES = 255
const MAX_ORDERING_KEY_BYTES = 255
const CONTROL_CHARACTER = /\p{Cc}/u
const COUNT = /^\d{1,9}$/

/** The event type of a push; `null` when the source declares none or the push names none. */
export function readEventType(
  at: SourceContract['eventType'],
  from: Readable,
): { readonly kind: 'type'; readonly value: string | null } | Malformed {
  if (at === null) return { kind: 'type', value: null }
  if (at.kind === 'fixed') return { kind: 'type', value: at.value }
  const read = readValue(at, from)
  if (read.kind === 'absent') return { kind: 'type', value: null }
  if (read.kind !== 'found') return malformed('event_type_invalid', `the event type is ${read.kind}`)
  const { value } = read
  if (typeof value !== 'string') return malformed('event_type_invalid', 'the event type is not a string')
  if (value.trim() === '') return { kind: 'type', value: null }
  if (Buffer.byteLength(value) > MAX_EVENT_TYPE_BYTES || CONTROL_CHARACTER.test(value) || !isStorableText(value)) {
    return malformed(
      'event_type_invalid',
      `the event type is over ${MAX_EVENT_TYPE_BYTES} bytes or has control characters`,
    )
  }
  return { kind: 'type', value }
}

/** The sender's own attempt counter. Context, never a decision: whatever is no small whole number reads as `null`. */
export function readSenderAttempt(at: SourceContract['senderAttempt'], from: Readable): number | null {
  if (at === null) return null
  const read = readValue(at, from)
  if (read.kind !== 'found') return null
  const text = String(read.value)
  return (typeof read.value === 'number' || typeof read.value === 'string') && COUNT.test(text) ? Number(text) : null
}

/** When it happened, epoch ms, as far as the sender says it in a form that means one instant. Context only. */
export function readEventTime(at: SourceContract['eventTime'], from: Readable): number | null {
  const read = at === null ? null : readValue(at, from)
  return read?.kind === 'found' ? parseInstant(read.value) : null
}

/** The sender's ordering key; what is no text of 1 to 255 bytes reads as `null`. */
export function readOrderingKey(at: SourceContract['orderingKey'], from: Readable): string | null {
  const read = at === null ? null : readValue(at, from)
  if (read?.kind !== 'found' || typeof read.value !== 'string') return null
  const { value } = read
  return value !== '' && Buffer.byteLength(value) <= MAX_ORDERING_KEY_BYTES && isStorableText(value) ? value : null
}
