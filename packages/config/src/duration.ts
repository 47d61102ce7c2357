/** Milliseconds, or a number with a unit: `250ms`, `5s`, `2m`, `24h`, `3d`. */
export type Duration = number | `${number}ms` | `${number}s` | `${number}m` | `${number}h` | `${number}d`

const GRAMMAR = /^(\d{1,13}(?:\.\d{1,3})?)(ms|s|m|h|d)$/
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Whole milliseconds of a duration; `null` when it is none. Never negative. */
export function parseDuration(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) && value >= 0 ? Math.round(value) : null
  if (typeof value !== 'string') return null
  const match = GRAMMAR.exec(value)
  if (match === null) return null
  return Math.round(Number(match[1]) * (UNIT_MS[match[2] ?? ''] ?? Number.NaN))
}

/** As a person would have written it: 5000 → `5s`, 2500 → `2.5s`. */
export function formatDuration(ms: number): string {
  for (const unit of ['d', 'h', 'm', 's']) {
    const size = UNIT_MS[unit] ?? Number.NaN
    if (ms >= size && ms % size === 0) return `${ms / size}${unit}`
  }
  return ms > 1_000 && ms % 100 === 0 && ms < 60_000 ? `${ms / 1_000}s` : `${ms}ms`
}
