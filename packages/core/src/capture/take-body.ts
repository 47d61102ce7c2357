import type { Capture, CaptureNote, CaptureUnreadable } from './capture.js'
import { joinChunks } from './join-chunks.js'

type Body = Pick<Capture, 'body' | 'everything' | 'notes'> & { readonly kind: 'body' }

/** The body of a capture by what its headers say of it: chunked framing, then Content-Length, then all there is. */
export function takeBody(headers: Capture['headers'], rest: Buffer): Body | CaptureUnreadable {
  const lengths = [...new Set(headers.get('content-length') ?? [])]
  if (lengths.length > 1) return { kind: 'unreadable', why: 'it has two Content-Length headers that differ' }
  const encoded = noteEncoding(headers)
  if (/(?:^|,)[ \t]*chunked[ \t]*$/i.test(headers.get('transfer-encoding')?.at(-1) ?? '')) {
    const joined = joinChunks(rest)
    const note: CaptureNote =
      joined === null
        ? { code: 'not_chunked', text: 'the header says chunked, and the body is not: it is taken as it stands' }
        : { code: 'chunks_joined', text: 'the body is chunked: the framing was taken out' }
    return { kind: 'body', body: joined ?? rest, everything: null, notes: [note, ...encoded] }
  }
  const [length] = lengths
  if (length === undefined) return { kind: 'body', body: rest, everything: null, notes: encoded }
  if (!/^\d{1,15}$/.test(length)) return { kind: 'unreadable', why: 'Content-Length is no whole number' }
  return cut(rest, Number(length), encoded)
}

/** Files get a newline at the end, or other line ends, more easily than requests do. */
function cut(rest: Buffer, length: number, notes: readonly CaptureNote[]): Body {
  const extra = rest.length - length
  if (extra === 0) return { kind: 'body', body: rest, everything: null, notes }
  if (extra < 0) {
    const text = `Content-Length says ${length} bytes, and ${-extra} of them are missing: the capture is incomplete or was written anew`
    return {
      kind: 'body',
      body: rest,
      everything: null,
      notes: [{ code: 'shorter_than_content_length', text }, ...notes],
    }
  }
  const text = `Content-Length says ${length} bytes, and ${extra} more follow: only the first ${length} are judged`
  const note: CaptureNote = { code: 'longer_than_content_length', text }
  return { kind: 'body', body: rest.subarray(0, length), everything: rest, notes: [note, ...notes] }
}

function noteEncoding(headers: Capture['headers']): readonly CaptureNote[] {
  const encoding = headers.get('content-encoding')?.[0] ?? ''
  if (encoding === '' || encoding.toLowerCase() === 'identity') return []
  const text = 'it has a Content-Encoding: a receiver refuses that with 415 before it looks at the signature'
  return [{ code: 'encoded_body', text }]
}
