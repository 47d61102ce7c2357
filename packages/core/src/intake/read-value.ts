import { isUtf8 } from 'node:buffer'
import { readPointer } from './json-pointer.js'
import type { PushRequest } from './push-request.js'
import type { ValueAt } from './source-contract.js'

export type ReadValue =
  | { readonly kind: 'found'; readonly value: unknown }
  | { readonly kind: 'absent' }
  /** A header that came more than once: taking either would be a guess. */
  | { readonly kind: 'repeated' }
  /** A header that is not UTF-8. */
  | { readonly kind: 'undecodable' }

/** A value of the push: a header's text without surrounding white space, or what a JSON pointer finds in the body. */
export function readValue(at: ValueAt, headers: PushRequest['headers'], document: unknown): ReadValue {
  if (at.kind === 'header') return readHeader(headers, at.header)
  const value = readPointer(document, at.pointer)
  return value === undefined || value === null ? { kind: 'absent' } : { kind: 'found', value }
}

/** Header text. Node hands bytes over as Latin-1; what the sender wrote is UTF-8. Blank counts as absent. */
export function readHeader(headers: PushRequest['headers'], name: string): ReadValue {
  const values = headers.get(name.toLowerCase())
  const raw = values?.[0]
  if (values === undefined || raw === undefined) return { kind: 'absent' }
  if (values.length > 1) return { kind: 'repeated' }
  const value = decodeHeader(trimOws(raw))
  if (value === null) return { kind: 'undecodable' }
  return value === '' ? { kind: 'absent' } : { kind: 'found', value }
}

function decodeHeader(text: string): string | null {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is what "plain ASCII" means
  if (/^[\x00-\x7f]*$/.test(text)) return text
  const bytes = Buffer.from(text, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : null
}

/** Optional white space of RFC 9110 is space and tab, nothing else: U+00A0 belongs to the value. */
function trimOws(text: string): string {
  return text.replace(/^[ \t]+/, '').replace(/[ \t]+$/, '')
}
