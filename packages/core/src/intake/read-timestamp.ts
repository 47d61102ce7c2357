import { parseInstant } from './parse-instant.js'
import type { PushRequest } from './push-request.js'
import { type Refusal, refuse } from './verification.js'

/** Epoch seconds or milliseconds in digits, or ISO 8601 with a zone. */
export type TimestampUnit = 's' | 'ms' | 'iso'

export type TimestampText = { readonly kind: 'text'; readonly text: string }

const SECONDS = /^\d{1,12}$/
const MILLISECONDS = /^\d{13}$/
const LOOKS_LIKE_S = /^\d{9,12}$/
/** Far above any of the three forms. */
const MAX_CHARACTERS = 64

/** The text of a signed timestamp header, as it was signed. */
export function readTimestampText(headers: PushRequest['headers'], header: string): TimestampText | Refusal {
  const values = headers.get(header)
  const text = values?.[0]
  if (values === undefined || text === undefined || text === '') {
    return refuse('timestamp_missing', `header ${header} is absent or empty`)
  }
  if (values.length > 1) return refuse('timestamp_repeated', `header ${header} came ${values.length} times`)
  if (text.length > MAX_CHARACTERS) return refuse('timestamp_malformed', `header ${header} is too long`)
  return { kind: 'text', text }
}

/** Epoch milliseconds of a signed timestamp, strictly. @param where the place in words, for the hint */
export function parseTimestamp(text: string, unit: TimestampUnit, where: string): number | Refusal {
  if (unit === 's' && SECONDS.test(text)) return Number(text) * 1000
  if (unit === 'ms' && MILLISECONDS.test(text)) return Number(text)
  const at = unit === 'iso' && !/^\d+$/.test(text) ? parseInstant(text) : null
  return at ?? refuse('timestamp_malformed', `${where} ${hintFor(text, unit)}`)
}

/** `null` while the timestamp is within the window, boundary included; else why not. Times in epoch milliseconds. */
export function checkFreshness(at: number, now: number, toleranceMs: number): Refusal | null {
  const ageMs = now - at
  const tolerance = `the tolerance is ${formatSeconds(toleranceMs)}`
  if (ageMs > toleranceMs) {
    return { ...refuse('timestamp_stale', `signed ${formatSeconds(ageMs)} ago, ${tolerance}`), signedAt: at }
  }
  if (-ageMs > toleranceMs) {
    const hint = `signed ${formatSeconds(-ageMs)} ahead of our clock, ${tolerance}`
    return { ...refuse('timestamp_in_future', hint), signedAt: at }
  }
  return null
}

function hintFor(text: string, unit: TimestampUnit): string {
  if (unit === 'iso') return 'is not an ISO 8601 time with a zone'
  if (unit === 's' && MILLISECONDS.test(text)) return 'looks like milliseconds, seconds are expected'
  if (unit === 'ms' && LOOKS_LIKE_S.test(text)) return 'looks like seconds, milliseconds are expected'
  return unit === 's' ? 'is not a whole number of epoch seconds' : 'is not 13 digits of epoch milliseconds'
}

function formatSeconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`
}
