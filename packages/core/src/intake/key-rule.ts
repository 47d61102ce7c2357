import { createHash } from 'node:crypto'

/** How a destination wants its idempotency keys. Set by the configuration, obeyed when an action is frozen. */
export type KeyRule = {
  /** Longest key the destination takes, in characters: 44 to 255. A longer one is shortened by a digest of all of it. */
  readonly maxLength: number
  /** `uuid`: every key becomes a UUID (version 8) made of its digest. */
  readonly form: 'text' | 'uuid'
  /** JSON pointer into the body where the key is put before it is frozen; `null`: it travels in a header, or not. */
  readonly pointer: string | null
}

export const DEFAULT_KEY_RULE: KeyRule = { maxLength: 255, form: 'text', pointer: null }

const SENDABLE_KEY = /^[\x20-\x7e]{1,255}$/
/** White space at the edges would be lost in a header, and our own encoded form must stay ours alone. */
const AMBIGUOUS_KEY = /^ | $|~[A-Za-z0-9_-]{43}$/

/** `~` and 43 characters of base64url. */
const DIGEST_LENGTH = 44
const READABLE_PREFIX_LENGTH = 40

/**
 * A business key as it travels: printable ASCII within the destination's length goes as it is. Any other text becomes
 * `<its printable beginning>~<base64url SHA-256 of all of it>`: the same key for the same text, and no two texts one key.
 */
export function encodeKey(text: string, rule: Pick<KeyRule, 'maxLength' | 'form'> = DEFAULT_KEY_RULE): string {
  if (rule.form === 'uuid') return toUuid(digest(text))
  if (text.length <= rule.maxLength && SENDABLE_KEY.test(text) && !AMBIGUOUS_KEY.test(text)) return text
  const room = Math.min(READABLE_PREFIX_LENGTH, rule.maxLength - DIGEST_LENGTH)
  const readable = text.slice(0, room).replace(/[^\x21-\x7e]/gu, '_')
  return `${readable}~${digest(text).toString('base64url')}`
}

function digest(text: string): Buffer {
  // UTF-16 code units, so that texts that differ only in lone surrogates stay two keys.
  return createHash('sha256').update(Buffer.from(text, 'utf16le')).digest()
}

/** RFC 9562, version 8: 122 bits of the digest. */
function toUuid(bytes: Buffer): string {
  const id = Buffer.from(bytes.subarray(0, 16))
  id[6] = ((id[6] ?? 0) & 0x0f) | 0x80
  id[8] = ((id[8] ?? 0) & 0x3f) | 0x80
  const hex = id.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
