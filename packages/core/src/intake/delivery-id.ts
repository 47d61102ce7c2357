import { createHash } from 'node:crypto'
import { type Malformed, malformed } from './malformed.js'
import { describeValueAt, type Readable, readValue } from './read-value.js'
import { isStorableText } from './sanitise-text.js'
import type { DeliveryIdAt, SourceContract, ValueAt } from './source-contract.js'

const MAX_DELIVERY_ID_BYTES = 255
const CONTROL_CHARACTER = /\p{Cc}/u

export type DeliveryId = { readonly kind: 'id'; readonly value: string }

/**
 * The delivery id, exactly as the sender wrote it: 1 to 255 bytes of UTF-8 without control characters. White space
 * around a header's value is not part of it. A JSON number counts only when it is a safe integer: a longer one was
 * already rounded by the parser, and two ids must never meet there. The text `undefined` is a text like any other.
 */
function readDeliveryId(at: ValueAt, from: Readable): DeliveryId | Malformed {
  const where = describeValueAt(at)
  const read = readValue(at, from)
  if (read.kind === 'absent') return malformed('delivery_id_missing', `${where} is absent or blank`)
  if (read.kind === 'repeated') return malformed('delivery_id_invalid', `${where} came more than once`)
  if (read.kind === 'undecodable') return malformed('delivery_id_invalid', `${where} is not UTF-8`)
  return checkDeliveryId(read.value, where)
}

/** The id of a source without ids, and of a quarantined push whose id is unusable: equal content, equal id. */
export function digestId(identityDigest: Buffer): string {
  return `digest:${identityDigest.toString('hex')}`
}

/** The rule of `readDeliveryId` for a source: its own value or values, or the digest where the source has no ids. */
export function deliveryIdOf(
  source: Pick<SourceContract, 'deliveryId'>,
  from: Readable,
  identityDigest: Buffer,
): DeliveryId | Malformed {
  const at = source.deliveryId
  if (at.kind === 'body_digest') return { kind: 'id', value: digestId(identityDigest) }
  return at.kind === 'composite' ? composeDeliveryId(at, from) : readDeliveryId(at, from)
}

/**
 * Parts joined by the separator, which is escaped inside them: `a:b` and `c` never meet `a` and `b:c`. What is longer
 * than an id may be is told by its SHA-256, which is as unique.
 */
function composeDeliveryId(at: DeliveryIdAt & { kind: 'composite' }, from: Readable): DeliveryId | Malformed {
  const texts: string[] = []
  for (const part of at.parts) {
    const read = readDeliveryId(part.at, from)
    if (read.kind === 'id') texts.push(escapePart(read.value, at.separator))
    else if (part.optional && read.cause === 'delivery_id_missing') texts.push('')
    else return read
  }
  const value = texts.join(at.separator)
  if (value.length === at.separator.length * (texts.length - 1)) {
    return malformed('delivery_id_missing', 'every part of the delivery id is absent or blank')
  }
  if (Buffer.byteLength(value) <= MAX_DELIVERY_ID_BYTES) return { kind: 'id', value }
  return { kind: 'id', value: `sha256:${createHash('sha256').update(value).digest('hex')}` }
}

function escapePart(text: string, separator: string): string {
  const escaped = text.replaceAll('%', '%25')
  return escaped.replaceAll(separator, [...Buffer.from(separator)].map((byte) => `%${byte.toString(16)}`).join(''))
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
