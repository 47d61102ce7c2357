import { isUtf8 } from 'node:buffer'
import { type Malformed, malformed } from './malformed.js'

/** Far above any real form; a stranger never gets here, since the signature comes first. */
const MAX_FIELDS = 1000

export type ParsedForm = {
  readonly kind: 'form'
  /** Values in wire order. */
  readonly fields: ReadonlyMap<string, readonly string[]>
  /** The same for routes and pointers: a text, or a list where a name repeats. Without a prototype. */
  readonly document: Readonly<Record<string, string | readonly string[]>>
}

/** `application/x-www-form-urlencoded`, UTF-8 only. A BOM in front is dropped here; the stored bytes keep it. */
export function parseForm(raw: Buffer): ParsedForm | Malformed {
  const bytes = raw[0] === 0xef && raw[1] === 0xbb && raw[2] === 0xbf ? raw.subarray(3) : raw
  if (!isUtf8(bytes)) return malformed('body_not_utf8', 'the form is not UTF-8')
  const fields = new Map<string, string[]>()
  let count = 0
  for (const [name, value] of new URLSearchParams(bytes.toString('utf8'))) {
    count += 1
    if (count > MAX_FIELDS) return malformed('body_not_form', `the form has more than ${MAX_FIELDS} fields`)
    const values = fields.get(name)
    if (values === undefined) fields.set(name, [value])
    else values.push(value)
  }
  const document: Record<string, string | readonly string[]> = Object.create(null)
  for (const [name, values] of fields) document[name] = values.length === 1 ? (values[0] ?? '') : values
  return { kind: 'form', fields, document }
}
