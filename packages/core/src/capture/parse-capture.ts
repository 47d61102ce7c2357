import type { Capture, CaptureNote, CaptureUnreadable } from './capture.js'
import { parseHeaderLines } from './parse-header-lines.js'
import { takeBody } from './take-body.js'

const REQUEST_LINE = /^([A-Za-z]{1,20}) +([\x21-\x7e\x80-\xff]+)(?: +HTTP\/\d(?:\.\d)?)?$/
const MAX_HEAD_BYTES = 65_536
const LF = 0x0a

/**
 * A request as it goes over the wire: request line, headers, an empty line, and the body byte for byte. Line ends of the
 * head may be LF, since editors make them so; of the body nothing is touched.
 */
export function parseCapture(bytes: Buffer): Capture | CaptureUnreadable {
  const head = splitHead(bytes)
  if (head === null) {
    return {
      kind: 'unreadable',
      why: `there is no empty line between headers and body in its first ${MAX_HEAD_BYTES} bytes`,
    }
  }
  const [first = '', ...lines] = head.lines
  const line = REQUEST_LINE.exec(first)
  if (line?.[1] === undefined || line[2] === undefined) {
    const why = `its first line is no request line such as "POST /push HTTP/1.1"; give headers alone as --headers with --body`
    return { kind: 'unreadable', why }
  }
  const parsed = parseHeaderLines(lines, head.firstLine + 1)
  if (parsed.kind === 'unreadable') return parsed
  return toCapture(line[1].toUpperCase(), line[2], parsed.headers, head.rest)
}

/** The same from its parts, where somebody kept headers and body apart. */
export function assembleCapture(
  method: string,
  target: string,
  headerText: Buffer,
  body: Buffer,
): Capture | CaptureUnreadable {
  const lines = headerText.toString('latin1').split('\n').map(withoutCr)
  const first = lines.findIndex((text) => text !== '')
  const end = lines.indexOf('', Math.max(first, 0))
  // A request line in front is what `curl -v` and most proxies print.
  const skip = REQUEST_LINE.test(lines[first] ?? '') ? 1 : 0
  const kept = first === -1 ? [] : lines.slice(first + skip, end === -1 ? undefined : end)
  const parsed = parseHeaderLines(kept, first + skip + 1)
  if (parsed.kind === 'unreadable') return parsed
  return toCapture(method.toUpperCase(), target, parsed.headers, body)
}

function toCapture(
  method: string,
  target: string,
  headers: Capture['headers'],
  rest: Buffer,
): Capture | CaptureUnreadable {
  const taken = takeBody(headers, rest)
  if (taken.kind === 'unreadable') return taken
  const notPost: readonly CaptureNote[] =
    method === 'POST'
      ? []
      : [{ code: 'not_a_post', text: 'a receiver takes deliveries by POST only, and answers this with 405' }]
  return { ...taken, kind: 'captured', method, target, headers, notes: [...notPost, ...taken.notes] }
}

type Head = { readonly lines: readonly string[]; readonly firstLine: number; readonly rest: Buffer }

/** Empty lines before the request line are skipped, as servers do. */
function splitHead(bytes: Buffer): Head | null {
  const lines: string[] = []
  let at = 0
  let number = 0
  let firstLine = 1
  while (at < bytes.length && at <= MAX_HEAD_BYTES) {
    const end = bytes.indexOf(LF, at)
    const stop = end === -1 ? bytes.length : end
    const text = withoutCr(bytes.toString('latin1', at, Math.min(stop, at + MAX_HEAD_BYTES)))
    at = stop + 1
    number += 1
    if (text !== '') {
      if (lines.length === 0) firstLine = number
      lines.push(text)
    } else if (lines.length > 0) return { lines, firstLine, rest: bytes.subarray(Math.min(at, bytes.length)) }
  }
  // A request without a body may end with its last header.
  return lines.length > 0 && bytes.length <= MAX_HEAD_BYTES ? { lines, firstLine, rest: Buffer.alloc(0) } : null
}

function withoutCr(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line
}
