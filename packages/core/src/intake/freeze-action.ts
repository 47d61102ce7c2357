import { createHash } from 'node:crypto'
import type { ActionDraft } from '../transition/transition.js'
import { ConfigurationBug } from './configuration-bug.js'
import { DEFAULT_KEY_RULE, encodeKey } from './key-rule.js'
import type { PlannedEntry } from './planned-push.js'
import { putKey } from './put-key.js'
import { isStorableText } from './sanitise-text.js'

const HEADER_VALUE = /^[\x20-\x7e]{1,255}$/
const MAX_ORDERING_KEY_BYTES = 255

/**
 * Freezes what a business action will send: the body is serialised here, once, and every attempt sends these bytes (I3).
 * A destination that has its key in the body gets it there now, never at send time.
 * Throws `ConfigurationBug` for a draft that can't be sent at all: no key, or a body that has no bytes or no place for it.
 */
export function freezeAction(draft: ActionDraft, newId: () => string): PlannedEntry {
  const idempotencyKey = encodeIdempotencyKey(draft)
  const { bytes, contentType } = serialiseBody(draft, idempotencyKey)
  return {
    id: newId(),
    destination: draft.destination,
    idempotencyKey,
    body: bytes,
    bodyDigest: createHash('sha256').update(bytes).digest(),
    contentType: checkContentType(draft) ?? contentType,
    orderingKey: draft.orderingKey === undefined ? null : encodeOrderingKey(draft.orderingKey),
  }
}

function encodeIdempotencyKey(draft: ActionDraft): string {
  if (typeof draft.idempotencyKey !== 'string' || draft.idempotencyKey.trim() === '') {
    throw new ConfigurationBug(`an action for destination ${draft.destination} has no idempotency key`)
  }
  return encodeKey(draft.idempotencyKey, draft.keyRule ?? DEFAULT_KEY_RULE)
}

function checkContentType({ contentType, destination }: ActionDraft): string | undefined {
  if (contentType === undefined || HEADER_VALUE.test(contentType)) return contentType
  throw new ConfigurationBug(`an action for destination ${destination} has a contentType that no header can carry`)
}

function encodeOrderingKey(key: string): string {
  if (key === '') throw new ConfigurationBug('an ordering key is empty; leave it out for an action without order')
  return isStorableText(key) && Buffer.byteLength(key) <= MAX_ORDERING_KEY_BYTES ? key : encodeKey(key)
}

function serialiseBody(draft: ActionDraft, key: string): { bytes: Buffer; contentType: string } {
  const { body } = draft
  const pointer = draft.keyRule?.pointer ?? null
  if (pointer !== null && (Buffer.isBuffer(body) || typeof body === 'string')) {
    throw new ConfigurationBug(
      `destination ${draft.destination} has its key in the body at ${pointer}: give the body as an object`,
    )
  }
  if (Buffer.isBuffer(body)) return { bytes: Buffer.from(body), contentType: 'application/octet-stream' }
  if (typeof body === 'string') return { bytes: Buffer.from(body, 'utf8'), contentType: 'text/plain; charset=utf-8' }
  const text = stringify(body)
  if (text === undefined) {
    throw new ConfigurationBug(
      `an action for destination ${draft.destination} has a body that can't be written as JSON`,
    )
  }
  const frozen = pointer === null ? text : putKey(text, pointer, key, draft.destination)
  return { bytes: Buffer.from(frozen, 'utf8'), contentType: 'application/json' }
}

/** `undefined` also for what JSON refuses: a cycle or a BigInt. */
function stringify(body: unknown): string | undefined {
  try {
    return JSON.stringify(body)
  } catch {
    return undefined
  }
}
