import { isUtf8 } from 'node:buffer'
import { readPointer } from './json-pointer.js'
import type { PushRequest } from './push-request.js'
import type { ValueAt } from './source-contract.js'

/** What values are read from: a delivery of a batch has the headers of its push and a document of its own. */
export type Readable = {
  readonly headers: PushRequest['headers']
  readonly document: unknown
  readonly form: ReadonlyMap<string, readonly string[]> | null
}

export type ReadValue =
  | { readonly kind: 'found'; readonly value: unknown }
  | { readonly kind: 'absent' }
  /** A header or a form field that came more than once: taking either would be a guess. */
  | { readonly kind: 'repeated' }
  /** A header that is not UTF-8. */
  | { readonly kind: 'undecodable' }

const ABSENT: ReadValue = { kind: 'absent' }

/** A value of the push: a header's text without surrounding white space, a field, or what a JSON pointer finds. */
export function readValue(at: ValueAt, from: Readable): ReadValue {
  switch (at.kind) {
    case 'header':
      return readHeader(from.headers, at.header)
    case 'pointer':
      return readAtPointer(from.document, at.pointer)
    case 'form':
      return readField(from.form, at.name)
    case 'first_of':
      return readFirst(at.places, from)
  }
}

/** The place in words, for hints. */
export function describeValueAt(at: ValueAt): string {
  switch (at.kind) {
    case 'header':
      return `header ${at.header}`
    case 'pointer':
      return `field ${at.pointer}`
    case 'form':
      return `form field ${at.name}`
    case 'first_of':
      return at.places.map(describeValueAt).join(' or ')
  }
}

/** Header text. Node hands bytes over as Latin-1; what the sender wrote is UTF-8. Blank counts as absent. */
export function readHeader(headers: PushRequest['headers'], name: string): ReadValue {
  const values = headers.get(name.toLowerCase())
  const raw = values?.[0]
  if (values === undefined || raw === undefined) return ABSENT
  if (values.length > 1) return { kind: 'repeated' }
  const value = decodeHeader(trimOws(raw))
  if (value === null) return { kind: 'undecodable' }
  return value === '' ? ABSENT : { kind: 'found', value }
}

function readAtPointer(document: unknown, pointer: string): ReadValue {
  const value = readPointer(document, pointer)
  return value === undefined || value === null ? ABSENT : { kind: 'found', value }
}

function readField(form: Readable['form'], name: string): ReadValue {
  const values = form?.get(name)
  const value = values?.[0]
  if (values === undefined || value === undefined || value === '') return ABSENT
  return values.length > 1 ? { kind: 'repeated' } : { kind: 'found', value }
}

/** The first place that has anything, also something unusable: what follows it must not take its place. */
function readFirst(places: readonly ValueAt[], from: Readable): ReadValue {
  for (const place of places) {
    const read = readValue(place, from)
    if (read.kind !== 'absent') return read
  }
  return ABSENT
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
