import { type Malformed, malformed } from './malformed.js'
import type { PushRequest } from './push-request.js'
import { readValue } from './read-value.js'
import { isStorableText } from './sanitise-text.js'
import type { SourceContract } from './source-contract.js'

const MAX_EVENT_TYPE_BYTES = 255
const CONTROL_CHARACTER = /\p{Cc}/u
const COUNT = /^\d{1,9}$/

/** The event type of a push; `null` when the source declares none or the push names none. */
export function readEventType(
  at: SourceContract['eventType'],
  headers: PushRequest['headers'],
  document: unknown,
): { readonly kind: 'type'; readonly value: string | null } | Malformed {
  if (at === null) return { kind: 'type', value: null }
  if (at.kind === 'fixed') return { kind: 'type', value: at.value }
  const read = readValue(at, headers, document)
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
export function readSenderAttempt(
  at: SourceContract['senderAttempt'],
  headers: PushRequest['headers'],
  document: unknown,
): number | null {
  if (at === null) return null
  const read = readValue(at, headers, document)
  if (read.kind !== 'found') return null
  const text = String(read.value)
  return (typeof read.value === 'number' || typeof read.value === 'string') && COUNT.test(text) ? Number(text) : null
}
