import { isUtf8 } from 'node:buffer'
import type { SigningKey } from '../intake/push-request.js'
import type { Variation } from './variation.js'

type Reading = {
  readonly code: string
  readonly words: string
  readonly read: (secret: Buffer, text: string | null) => Buffer | null
}

const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/
const HEX = /^(?:[0-9a-f]{2})+$/i
const PREFIXED = /^wh(?:sec|pk|sk)_/
const QUOTED = /^(["'`])(.*)\1$/s

const NEXT =
  'correct how the secret is written where it is configured: what its owner shows is to be copied whole, and the preset knows how to read it'

/** From what we hold, back to the text that it may have come from, and on to what another reader makes of that text. */
const READINGS: readonly Reading[] = [
  { code: 'base64', words: 'read as base64', read: (_, text) => fromBase64(text) },
  {
    code: 'hex',
    words: 'read as hex',
    read: (_, text) => (text !== null && HEX.test(text) ? Buffer.from(text, 'hex') : null),
  },
  {
    code: 'whsec',
    words: 'read as base64 after its whsec_ prefix',
    read: (_, text) => (text !== null && PREFIXED.test(text) ? fromBase64(text.replace(PREFIXED, '')) : null),
  },
  {
    code: 'text_after_prefix',
    words: 'read as text without its whsec_ prefix',
    read: (_, text) => (text !== null && PREFIXED.test(text) ? Buffer.from(text.replace(PREFIXED, '')) : null),
  },
  {
    code: 'text_of_base64',
    words: 'read as the text that it is, and not decoded from base64',
    read: (secret) => Buffer.from(secret.toString('base64')),
  },
  {
    code: 'text_of_base64_unpadded',
    words: 'read as the text that it is (base64 without padding), and not decoded',
    read: (secret) => (secret.length % 3 === 0 ? null : Buffer.from(secret.toString('base64').replace(/=+$/, ''))),
  },
  {
    code: 'text_of_whsec',
    words: 'read as the text that it is, with its whsec_ prefix, and not decoded from base64',
    read: (secret) => Buffer.from(`whsec_${secret.toString('base64')}`),
  },
  {
    code: 'text_of_hex',
    words: 'read as the text that it is, and not decoded from hex',
    read: (secret) => Buffer.from(secret.toString('hex')),
  },
  {
    code: 'trimmed',
    words: 'read without the white space around it',
    read: (_, text) => (text !== null && text.trim() !== text ? Buffer.from(text.trim()) : null),
  },
  {
    code: 'unquoted',
    words: 'read without the quotes around it',
    read: (_, text) => {
      const inner = text === null ? undefined : QUOTED.exec(text)?.[2]
      return inner === undefined ? null : Buffer.from(inner)
    },
  },
  {
    code: 'with_lf',
    words: 'read with a newline at its end',
    read: (secret) => Buffer.concat([secret, Buffer.from('\n')]),
  },
  {
    code: 'with_crlf',
    words: 'read with CRLF at its end',
    read: (secret) => Buffer.concat([secret, Buffer.from('\r\n')]),
  },
]

/** The mistakes that people make with a secret: decoded where it is text, text where it is encoded, a newline too many. */
export function listKeyReadings(keys: readonly SigningKey[]): readonly Variation[] {
  return READINGS.flatMap(({ code, words, read }) => {
    const reread = (key: SigningKey) => {
      const secret = read(key.secret, isUtf8(key.secret) ? key.secret.toString('utf8') : null)
      return secret === null || secret.length === 0 || secret.equals(key.secret) ? [] : [{ ...key, secret }]
    }
    const varied = keys.flatMap(reread)
    if (varied.length === 0) return []
    return [
      {
        part: 'secret' as const,
        code: `secret_${code}`,
        words: `the secret were ${words}`,
        next: NEXT,
        apply: (subject) => ({ ...subject, keys: subject.keys.flatMap(reread) }),
      },
    ]
  })
}

/** Padding may be missing, and the alphabet may be that of URLs: both are common in what people copy. */
function fromBase64(text: string | null): Buffer | null {
  if (text === null || !BASE64.test(text)) return null
  const bytes = Buffer.from(text, 'base64')
  return bytes.length === 0 ? null : bytes
}
