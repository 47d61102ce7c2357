import type { CaptureUnreadable } from './capture.js'

export type HeaderLines = { readonly kind: 'headers'; readonly headers: ReadonlyMap<string, readonly string[]> }

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const MAX_LINES = 500

/**
 * Header lines as Latin-1 text, without their line ends.
 * @param firstLine number of the first of them in its file, for messages
 */
export function parseHeaderLines(lines: readonly string[], firstLine = 1): HeaderLines | CaptureUnreadable {
  if (lines.length > MAX_LINES) return { kind: 'unreadable', why: `there are more than ${MAX_LINES} header lines` }
  const headers = new Map<string, string[]>()
  for (const [index, line] of lines.entries()) {
    const where = `line ${firstLine + index}`
    if (/^[ \t]/.test(line)) {
      return { kind: 'unreadable', why: `${where} begins with white space; write each header on one line` }
    }
    const colon = line.indexOf(':')
    const name = colon === -1 ? '' : line.slice(0, colon)
    if (!NAME.test(name)) return { kind: 'unreadable', why: `${where} is no header; write it as Name: value` }
    const value = line.slice(colon + 1).replace(/^[ \t]+|[ \t]+$/g, '')
    const known = headers.get(name.toLowerCase())
    if (known === undefined) headers.set(name.toLowerCase(), [value])
    else known.push(value)
  }
  return { kind: 'headers', headers }
}
