import type { PushRequest } from './push-request.js'
import type { Refusal } from './verification.js'

export type TimestampUnit = 's' | 'ms'

const GRAMMAR: Record<TimestampUnit, RegExp> = { s: /^\d{1,12}$/, ms: /^\d{13}$/ }
const LOOKS_LIKE_MS = /^\d{13}$/
const LOOKS_LIKE_S = /^\d{9,12}$/

/** A signed timestamp header: its text as it was signed, and what it means in epoch milliseconds. */
export function readTimestamp(
  headers: PushRequest['headers'],
  header: string,
  unit: TimestampUnit,
): { readonly kind: 'found'; readonly text: string; readonly at: number } | Refusal {
  const values = headers.get(header)
  const text = values?.[0]
  if (values === undefined || text === undefined || text === '') {
    return refuse('timestamp_missing', `header ${header} is absent or empty`)
  }
  if (values.length > 1) return refuse('timestamp_repeated', `header ${header} came ${values.length} times`)
  if (!GRAMMAR[unit].test(text)) return refuse('timestamp_malformed', `header ${header} ${hintFor(text, unit)}`)
  return { kind: 'found', text, at: unit === 's' ? Number(text) * 1000 : Number(text) }
}

/** `null` while the timestamp is within the window, boundary included; else why not. Times in epoch milliseconds. */
export function checkFreshness(at: number, now: number, toleranceMs: number): Refusal | null {
  const ageMs = now - at
  const tolerance = `the tolerance is ${formatSeconds(toleranceMs)}`
  if (ageMs > toleranceMs) return refuse('timestamp_stale', `signed ${formatSeconds(ageMs)} ago, ${tolerance}`)
  if (-ageMs > toleranceMs) {
    return refuse('timestamp_in_future', `signed ${formatSeconds(-ageMs)} ahead of our clock, ${tolerance}`)
  }
  return null
}

function hintFor(text: string, unit: TimestampUnit): string {
  if (unit === 's' && LOOKS_LIKE_MS.test(text)) return 'looks like milliseconds, seconds are expected'
  if (unit === 'ms' && LOOKS_LIKE_S.test(text)) return 'looks like seconds, milliseconds are expected'
  return unit === 's' ? 'is not a whole number of epoch seconds' : 'is not 13 digits of epoch milliseconds'
}

function formatSeconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`
}

function refuse(cause: Refusal['cause'], hint: string): Refusal {
  return { kind: 'refused', cause, hint }
}
