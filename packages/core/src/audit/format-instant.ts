/** `2026-11-29 14:02:11.120Z`: UTC, sortable, one meaning. */
export function formatInstant(epochMs: number): string {
  return new Date(epochMs).toISOString().replace('T', ' ')
}

/** `2026-11-29 14:02:11Z`, for sentences. */
export function formatSecond(epochMs: number): string {
  return `${formatInstant(epochMs).slice(0, 19)}Z`
}

/** `850 ms`, `10.0 s`, `4 min 10 s`, `2 h 5 min`, `3 d 2 h`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 3600) return pair(seconds, 60, 'min', 's')
  if (seconds < 86_400) return pair(Math.round(seconds / 60), 60, 'h', 'min')
  return pair(Math.round(seconds / 3600), 24, 'd', 'h')
}

function pair(smaller: number, factor: number, bigName: string, smallName: string): string {
  const big = Math.floor(smaller / factor)
  const rest = smaller % factor
  return rest === 0 ? `${big} ${bigName}` : `${big} ${bigName} ${rest} ${smallName}`
}
