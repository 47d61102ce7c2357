import { isUtf8 } from 'node:buffer'

/** Deeper nesting is refused: honest events stay far below, and hostile ones must cost nothing. */
export const MAX_JSON_DEPTH = 64

export type ParsedJson =
  /** `bytes` are what was parsed: without a BOM. `value` is `null` for an empty body. */
  | { readonly kind: 'parsed'; readonly value: unknown; readonly bytes: Buffer }
  | { readonly kind: 'invalid'; readonly cause: 'body_not_utf8' | 'body_too_deep' | 'body_not_json' }

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/**
 * JSON from bytes, without a throw. UTF-8 only; a BOM is dropped for parsing (the stored bytes keep it); an empty body
 * is `null`. The depth is counted over the bytes before `JSON.parse` builds anything. `__proto__` and `constructor`
 * are plain own properties; of duplicate keys the last one wins, here and wherever a pointer is followed.
 */
export function parseJson(raw: Buffer, maxDepth = MAX_JSON_DEPTH): ParsedJson {
  const bytes = withoutBom(raw)
  if (bytes.length === 0) return { kind: 'parsed', value: null, bytes }
  if (exceedsDepth(bytes, maxDepth)) return { kind: 'invalid', cause: 'body_too_deep' }
  if (!isUtf8(bytes)) return { kind: 'invalid', cause: 'body_not_utf8' }
  try {
    return { kind: 'parsed', value: JSON.parse(bytes.toString('utf8')), bytes }
  } catch {
    return { kind: 'invalid', cause: 'body_not_json' }
  }
}

function withoutBom(raw: Buffer): Buffer {
  return raw[0] === 0xef && raw[1] === 0xbb && raw[2] === 0xbf ? raw.subarray(3) : raw
}

/** Brackets outside strings. Broken JSON may be counted wrongly, but never too low for what `JSON.parse` would nest. */
function exceedsDepth(bytes: Buffer, maxDepth: number): boolean {
  let depth = 0
  let inString = false
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]
    if (inString) {
      if (byte === BACKSLASH) at += 1
      else if (byte === QUOTE) inString = false
    } else if (byte === QUOTE) {
      inString = true
    } else if (byte === OPEN_BRACKET || byte === OPEN_BRACE) {
      depth += 1
      if (depth > maxDepth) return true
    } else if (byte === CLOSE_BRACKET || byte === CLOSE_BRACE) {
      depth -= 1
    }
  }
  return false
}
