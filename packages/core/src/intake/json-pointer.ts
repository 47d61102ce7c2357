const ARRAY_INDEX = /^(?:0|[1-9]\d{0,9})$/
const BAD_ESCAPE = /~(?![01])/

/** The reference tokens of an RFC 6901 pointer, unescaped; `null` when it is not one. `''` is the whole document. */
export function parsePointer(pointer: string): readonly string[] | null {
  if (pointer === '') return []
  if (!pointer.startsWith('/') || BAD_ESCAPE.test(pointer)) return null
  return pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** The value at a pointer, own properties and array elements only; `undefined` when there is none. */
export function readPointer(document: unknown, pointer: string): unknown {
  const tokens = parsePointer(pointer)
  if (tokens === null) return undefined
  let value = document
  for (const token of tokens) {
    if (typeof value !== 'object' || value === null) return undefined
    if (Array.isArray(value) && !ARRAY_INDEX.test(token)) return undefined
    if (!Object.hasOwn(value, token)) return undefined
    value = (value as Record<string, unknown>)[token]
  }
  return value
}
