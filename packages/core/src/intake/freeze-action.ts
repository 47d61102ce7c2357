import { createHash } from 'node:crypto'
import type { ActionDraft } from '../transition/transition.js'
import { ConfigurationBug } from './configuration-bug.js'
import type { PlannedEntry } from './planned-push.js'
import { isStorableText } from './sanitise-text.js'

const SENDABLE_KEY = /^[\x20-\x7e]{1,255}$/
/** White space at the edges would be lost in a header, and our own encoded form must stay ours alone. */
const AMBIGUOUS_KEY = /^ | $|~[A-Za-z0-9_-]{43}$/
const HEADER_VALUE = /^[\x20-\x7e]{1,255}$/
const MAX_ORDERING_KEY_BYTES = 255
const READABLE_PREFIX_LENGTH = 40

/**
 * Freezes what a business action will send: the body is serialised here, once, and every attempt sends these bytes (I3).
 * Throws `ConfigurationBug` for a draft that can't be sent at all: no key, or a body that has no bytes.
 */
export function freezeAction(draft: ActionDraft, newId: () => string): PlannedEntry {
  const { bytes, contentType } = serialiseBody(draft)
  return {
    id: newId(),
    destination: draft.destination,
    idempotencyKey: encodeIdempotencyKey(draft),
    body: bytes,
    bodyDigest: createHash('sha256').update(bytes).digest(),
    contentType: checkContentType(draft) ?? contentType,
    orderingKey: draft.orderingKey === undefined ? null : encodeOrderingKey(draft.orderingKey),
  }
}

/**
 * A business key as it travels in a header: 1 to 255 printable ASCII characters go as they are. Any other text becomes
 * `<its printable beginning>~<base64url SHA-256 of all of it>`: the same key for the same text, and no two texts one key.
 */
export function encodeKey(text: string): string {
  if (SENDABLE_KEY.test(text) && !AMBIGUOUS_KEY.test(text)) return text
  const readable = text.slice(0, READABLE_PREFIX_LENGTH).replace(/[^\x21-\x7e]/gu, '_')
  // UTF-16 code units, so that texts that differ only in lone surrogates stay two keys.
  return `${readable}~${createHash('sha256').update(Buffer.from(text, 'utf16le')).digest('base64url')}`
}

function encodeIdempotencyKey(draft: ActionDraft): string {
  if (typeof draft.idempotencyKey !== 'string' || draft.idempotencyKey.trim() === '') {
    throw new ConfigurationBug(`an action for destination ${draft.destination} has no idempotency key`)
  }
  return encodeKey(draft.idempotencyKey)
}

function checkContentType({ contentType, destination }: ActionDraft): string | undefined {
  if (contentType === undefined || HEADER_VALUE.test(contentType)) return contentType
  throw new ConfigurationBug(`an action for destination ${destination} has a contentType that no header can carry`)
}

function encodeOrderingKey(key: string): string {
  if (key === '') throw new ConfigurationBug('an ordering key is empty; leave it out for an action without order')
  return isStorableText(key) && Buffer.byteLength(key) <= MAX_ORDERING_KEY_BYTES ? key : encodeKey(key)
}

function serialiseBody(draft: ActionDraft): { bytes: Buffer; contentType: string } {
  const { body } = draft
  if (Buffer.isBuffer(body)) return { bytes: Buffer.from(body), contentType: 'application/octet-stream' }
  if (typeof body === 'string') return { bytes: Buffer.from(body, 'utf8'), contentType: 'text/plain; charset=utf-8' }
  const text = stringify(body)
  if (text === undefined) {
    throw new ConfigurationBug(
      `an action for destination ${draft.destination} has a body that can't be written as JSON`,
    )
  }
  return { bytes: Buffer.from(text, 'utf8'), contentType: 'application/json' }
}

/** `undefined` also for what JSON refuses: a cycle or a BigInt. */
function stringify(body: unknown): string | undefined {
  try {
    return JSON.stringify(body)
  } catch {
    return undefined
  }
}
