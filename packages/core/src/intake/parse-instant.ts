const ISO_WITH_ZONE = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)$/i
const DIGITS = /^\d{1,16}$/
/** Epoch seconds reach this in the year 5138, epoch milliseconds passed it in 1973: no honest value is ambiguous. */
const SMALLEST_MS = 100_000_000_000

/**
 * Epoch milliseconds of an instant from the wire: ISO 8601 with a zone (without one it would mean something else on
 * every machine), or epoch seconds or milliseconds as a number or digits. `null` for anything else.
 */
export function parseInstant(value: unknown): number | null {
  if (typeof value === 'number') return fromEpoch(value)
  if (typeof value !== 'string') return null
  if (DIGITS.test(value)) return fromEpoch(Number(value))
  if (!ISO_WITH_ZONE.test(value)) return null
  const at = Date.parse(
    value
      .replace(/([+-]\d\d)(\d\d)$/, '$1:$2')
      .replace(' ', 'T')
      .toUpperCase(),
  )
  return Number.isNaN(at) ? null : at
}

function fromEpoch(value: number): number | null {
  if (!Number.isFinite(value) || value < 0 || value > 8.64e15) return null
  return value < SMALLEST_MS ? Math.round(value * 1000) : Math.round(value)
}
