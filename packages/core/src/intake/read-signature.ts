import type { PushRequest } from './push-request.js'
import type { Refusal } from './verification.js'

export type SignatureEncoding = 'hex' | 'base64'

const HEX_32_BYTES = /^[0-9a-f]{64}$/i
const BASE64_32_BYTES = /^[A-Za-z0-9+/]{43}=$/
/** Far above any real form; longer headers are refused before a pattern looks at them. */
const HEADER_CAP = 512

export type SignatureForm = {
  /** Lower case. */
  readonly header: string
  readonly prefix: string
  readonly encoding: SignatureEncoding
}

/** The 32 bytes of an HMAC-SHA-256 signature header, decoded strictly: no white space, no junk, no second spelling. */
export function readSignature(
  headers: PushRequest['headers'],
  form: SignatureForm,
): { readonly kind: 'found'; readonly bytes: Buffer } | Refusal {
  const values = headers.get(form.header)
  const value = values?.[0]
  if (values === undefined || value === undefined || value === '') {
    return refuse('signature_missing', `header ${form.header} is absent or empty`)
  }
  if (values.length > 1) return refuse('signature_repeated', `header ${form.header} came ${values.length} times`)
  if (value.length > HEADER_CAP) return refuse('signature_malformed', `header ${form.header} is too long`)
  if (!value.startsWith(form.prefix)) {
    return refuse('signature_malformed', `header ${form.header} does not start with ${form.prefix}`)
  }
  const bytes = decodeSignature(value.slice(form.prefix.length), form.encoding)
  return bytes === null
    ? refuse('signature_malformed', `header ${form.header} is not 32 bytes of ${form.encoding}`)
    : { kind: 'found', bytes }
}

function decodeSignature(text: string, encoding: SignatureEncoding): Buffer | null {
  if (encoding === 'hex') return HEX_32_BYTES.test(text) ? Buffer.from(text, 'hex') : null
  if (!BASE64_32_BYTES.test(text)) return null
  const bytes = Buffer.from(text, 'base64')
  // The last character carries two unused bits: only the spelling with zeros is canonical.
  return bytes.toString('base64') === text ? bytes : null
}

function refuse(cause: Refusal['cause'], hint: string): Refusal {
  return { kind: 'refused', cause, hint }
}
