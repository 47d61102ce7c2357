/** Byte ranges of one member of an object, or of one element of an array (`key` is then its index). */
export type JsonMember = {
  /** Unescaped name or index, to compare with a pointer's token. */
  readonly token: string
  /** From the name's opening quote (an element: its first byte) … */
  readonly start: number
  /** … the value alone … */
  readonly valueStart: number
  /** … to behind the value's last byte. */
  readonly end: number
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPENERS = new Set([0x5b, 0x7b])
const CLOSERS = new Set([0x5d, 0x7d])
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACE = 0x7b
const WHITE_SPACE = new Set([0x20, 0x09, 0x0a, 0x0d])

/**
 * The members of the container that starts at `from`, or `null` when no container starts there. The bytes must be JSON
 * that `JSON.parse` took: this finds places, it validates nothing.
 */
export function listJsonMembers(bytes: Buffer, from: number): readonly JsonMember[] | null {
  const opener = bytes[from]
  if (opener === undefined || !OPENERS.has(opener)) return null
  const members: JsonMember[] = []
  let at = skipSpace(bytes, from + 1)
  while (at < bytes.length && !isCloser(bytes[at])) {
    const member = opener === OPEN_BRACE ? readMember(bytes, at) : readElement(bytes, at, members.length)
    members.push(member)
    at = skipSpace(bytes, member.end)
    if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1)
  }
  return members
}

/** First byte at or after `at` that is not JSON white space. */
export function skipSpace(bytes: Buffer, at: number): number {
  let next = at
  while (WHITE_SPACE.has(bytes[next] ?? 0)) next += 1
  return next
}

/** Behind the last byte of the value that starts at `at`. */
export function endOfJsonValue(bytes: Buffer, at: number): number {
  const first = bytes[at]
  if (first === QUOTE) return endOfString(bytes, at)
  if (first !== undefined && OPENERS.has(first)) return endOfContainer(bytes, at)
  let next = at
  while (next < bytes.length && !isScalarEnd(bytes[next])) next += 1
  return next
}

function readMember(bytes: Buffer, at: number): JsonMember {
  const keyEnd = endOfString(bytes, at)
  const colon = skipSpace(bytes, keyEnd)
  const valueStart = skipSpace(bytes, bytes[colon] === COLON ? colon + 1 : colon)
  const token = String(JSON.parse(bytes.toString('utf8', at, keyEnd)))
  return { token, start: at, valueStart, end: endOfJsonValue(bytes, valueStart) }
}

function readElement(bytes: Buffer, at: number, index: number): JsonMember {
  return { token: String(index), start: at, valueStart: at, end: endOfJsonValue(bytes, at) }
}

function endOfString(bytes: Buffer, at: number): number {
  let next = at + 1
  while (next < bytes.length && bytes[next] !== QUOTE) next += bytes[next] === BACKSLASH ? 2 : 1
  return next + 1
}

function endOfContainer(bytes: Buffer, at: number): number {
  let depth = 0
  let next = at
  while (next < bytes.length) {
    const byte = bytes[next] ?? 0
    if (byte === QUOTE) {
      next = endOfString(bytes, next)
      continue
    }
    if (OPENERS.has(byte)) depth += 1
    else if (CLOSERS.has(byte)) depth -= 1
    next += 1
    if (depth === 0) return next
  }
  return next
}

function isCloser(byte: number | undefined): boolean {
  return byte !== undefined && CLOSERS.has(byte)
}

function isScalarEnd(byte: number | undefined): boolean {
  return byte === COMMA || isCloser(byte) || WHITE_SPACE.has(byte ?? 0)
}
