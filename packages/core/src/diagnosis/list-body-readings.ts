import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { parseJson } from '../intake/parse-json.js'
import { listJsonSpellings } from './list-json-spellings.js'
import type { Variation } from './variation.js'

const BOM = Buffer.from([0xef, 0xbb, 0xbf])
const NEXT_BYTES = 'hand the raw bytes on as they came: a proxy, an editor or the capture itself changed them'
const NEXT_JSON =
  'find what parses the body and writes it anew (a body parser, a gateway, a function runtime), and have it hand on the raw bytes'

/** Some twenty spellings are held at once. */
const MAX_REWRITTEN_BYTES = 4_194_304

type Reading = { readonly code: string; readonly words: string; readonly next: string; readonly bytes: Buffer }

/**
 * The bodies that may have been signed when the one that was captured was not: other line ends, a byte order mark, JSON
 * that something on the way parsed and wrote anew.
 * @param everything all bytes after the head, where Content-Length cut some off
 */
export function listBodyReadings(body: Buffer, everything: Buffer | null): readonly Variation[] {
  const bases = everything === null ? [body] : [body, everything]
  const readings = [
    ...(everything === null
      ? []
      : [reading('all_bytes', 'all bytes after the headers counted, whatever Content-Length says', everything)]),
    ...bases.flatMap(listByteReadings),
    ...bases.flatMap(listJsonReadings),
  ]
  const seen = new Set([sha256(body)])
  return readings.flatMap(({ code, words, next, bytes }) => {
    const digest = sha256(bytes)
    if (seen.has(digest)) return []
    seen.add(digest)
    return [
      {
        part: 'body' as const,
        code: `body_${code}`,
        words,
        next,
        apply: (subject) => ({ ...subject, request: { ...subject.request, rawBody: bytes } }),
      },
    ]
  })
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('base64')
}

function listByteReadings(body: Buffer): readonly Reading[] {
  const text = body.toString('latin1')
  const from = (latin1: string) => Buffer.from(latin1, 'latin1')
  const lf = text.replaceAll('\r\n', '\n')
  return [
    reading('without_final_newline', 'the body had no newline at its end', from(text.replace(/\r?\n$/, ''))),
    reading('with_final_lf', 'the body ended with a newline (LF)', from(`${text}\n`)),
    reading('with_final_crlf', 'the body ended with CRLF', from(`${text}\r\n`)),
    reading('lf', 'the line ends of the body were LF and not CRLF', from(lf)),
    reading(
      'lf_without_final',
      'the line ends of the body were LF and not CRLF, and none at its end',
      from(lf.replace(/\n$/, '')),
    ),
    reading('crlf', 'the line ends of the body were CRLF and not LF', from(lf.replaceAll('\n', '\r\n'))),
    reading(
      'without_bom',
      'the body had no byte order mark',
      body.subarray(0, 3).equals(BOM) ? body.subarray(3) : body,
    ),
    reading('with_bom', 'the body began with a byte order mark', Buffer.concat([BOM, body])),
    reading('not_encoded_twice', 'the body were in UTF-8 once and not twice', decodeTwice(body)),
    reading('empty', 'the body were empty: it may have been lost before it was signed', Buffer.alloc(0)),
  ]
}

function listJsonReadings(body: Buffer): readonly Reading[] {
  if (body.length > MAX_REWRITTEN_BYTES) return []
  const parsed = parseJson(body)
  if (parsed.kind === 'invalid' || typeof parsed.value !== 'object' || parsed.value === null) return []
  return listJsonSpellings(parsed.value, parsed.bytes.toString('utf8')).flatMap(({ code, words, text }) => [
    { code, words: `the body were ${words}`, next: NEXT_JSON, bytes: Buffer.from(text) },
    {
      code: `${code}_lf`,
      words: `the body were ${words}, with a newline at its end`,
      next: NEXT_JSON,
      bytes: Buffer.from(`${text}\n`),
    },
  ])
}

function reading(code: string, words: string, bytes: Buffer): Reading {
  return { code, words, next: NEXT_BYTES, bytes }
}

/** UTF-8 that was taken for Latin-1 and encoded again. */
function decodeTwice(body: Buffer): Buffer {
  if (!isUtf8(body)) return body
  const text = body.toString('utf8')
  for (const character of text) if ((character.codePointAt(0) ?? 0) > 0xff) return body
  return Buffer.from(text, 'latin1')
}
