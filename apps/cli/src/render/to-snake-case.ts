const INSTANT = /(^at|At|Until|Since)$/

/**
 * The JSON form of what we hold: snake_case names, and ISO 8601 in UTC for every instant. What a person wrote into
 * `detail` stays as it is.
 */
export function toSnakeCase(value: unknown, name = ''): unknown {
  if (name === 'detail') return value
  if (typeof value === 'number' && INSTANT.test(name)) return new Date(value).toISOString()
  if (Array.isArray(value)) return value.map((item) => toSnakeCase(item))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      toSnakeCase(inner, key),
    ]),
  )
}
