import { type Malformed, malformed } from './malformed.js'
import type { PushRequest } from './push-request.js'
import { readValue } from './read-value.js'
import { isStorableText } from './sanitise-text.js'
import type { SourceContract, ValueAt } from './source-contract.js'

const MAX_DELIVERY_ID_BYTES = 255
const CONTROL_CHARACTER = /\p{Cc}/u

export type DeliveryId = { readonly kind: 'id'; readonly value: string }

/**
 * The delivery id, exactly as the sender wrote it: 1 to 255 bytes of UTF-8 without control characters. White space
 * around a header's value is not part of it. A JSON number counts only when it is a safe integer: a longer one was
 * already rounded by the parser, and two ids must never meet there. The text `undefined` is a text like any other.
 */
function readDeliveryId(at: ValueAt, headers: PushRequest['headers'], document: unknown): DeliveryId | Malformed {
  const where = at.kind === 'header' ? `header ${at.header}` : `field ${at.pointer}`
  const read = readValue(at, headers, document)
  if (read.kind === 'absent') return malformed('delivery_id_missing', `${where} is absent or blank`)
  if (read.kind === 'repeated') return malformed('delivery_id_invalid', `${where} came more than once`)
  if (read.kind === 'undecodable') return malformed('delivery_id_invalid', `${where} is not UTF-8`)
  return checkDeliveryId(read.value, where)
}

/** The id of a source without ids, and of a quarantined push whose id is unusable: equal content, equal id. */
export function digestId(identityDigest: Buffer): string {
  return `digest:${identityDigest.toString('hex')}`
}

/** The rule of `readDeliveryId` for a source: its own value, or the digest where the source has no ids. */
export function deliveryIdOf(
  source: Pick<SourceContract, 'deliveryId'>,
  headers: PushRequest['headers'],
  document: unknown,
  identityDigest: Buffer,
): DeliveryId | Malformed {
  if (source.deliveryId.kind === 'body_digest') return { kind: 'id', value: digestId(identityDigest) }
  return readDeliveryId(source.deliveryId, headers, document)
}

function checkDeliveryId(value: unknown, where: string): DeliveryId | Malformed {
  if (typeof value === 'number') {
    return Number.isSafeInteger(value)
      ? { kind: 'id', value: String(value) }
      : malformed('delivery_id_invalid', `${where} is a number that is not a safe integer; send it as a string`)
  }
  if (typeof value !== 'string') return malformed('delivery_id_invalid', `${where} is neither a string nor an integer`)
  if (value.trim() === '') return malformed('delivery_id_missing', `${where} is absent or blank`)
  if (CONTROL_CHARACTER.test(value)) return malformed('delivery_id_invalid', `${where} has control characters`)
  if (!isStorableText(value)) return malformed('delivery_id_invalid', `${where} has a lone surrogate`)
  const bytes = Buffer.byteLength(value)
  if (bytes > MAX_DELIVERY_ID_BYTES) {
    return malformed('delivery_id_invalid', `${where} has ${bytes} bytes, the limit is ${MAX_DELIVERY_ID_BYTES}`)
  }
  return { kind: 'id', value }
}
