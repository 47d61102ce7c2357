import { parseInstant } from '../intake/parse-instant.js'

/** Above this a delay is nonsense (milliseconds or an epoch sent as seconds, a year 9999), not a wish. */
const ABSURD_MS = 30 * 24 * 3_600_000

/** A `Date` header further from our clock than this is not believed as the answer's own time. */
const PLAUSIBLE_CLOCK_OFFSET_MS = 24 * 3_600_000

/** A reset of at least this many seconds is a time, not a delay: 2001 by the one reading, 31 years by the other. */
const EPOCH_SECONDS = 1e9
const EPOCH_MS = 1e12

const DECIMAL = /^\d{1,13}(\.\d{1,9})?$/
const GO_DURATION = /^(?:\d{1,12}(?:\.\d{1,9})?(?:h|ms|m|s|us|µs|ns))+$/
const GO_PART = /(\d+(?:\.\d+)?)(h|ms|m|s|us|µs|ns)/g
const GO_UNIT_MS: Readonly<Record<string, number>> = {
  h: 3_600_000,
  m: 60_000,
  s: 1_000,
  ms: 1,
  us: 1e-3,
  µs: 1e-3,
  ns: 1e-6,
}

export type RetryAfterHeaders = {
  readonly retryAfter: string | undefined
  /** The answer's own `Date`, for dates relative to the destination's clock. */
  readonly date: string | undefined
  /** `RateLimit-Reset`, `X-RateLimit-Reset` or the like: when the quota is full again. Only read of a "not now". */
  readonly reset?: string | undefined
}

/**
 * When a destination wants to be asked again. `Retry-After`: whole or decimal seconds, a Go duration (`1m30s`), or an
 * HTTP-date. Where that says nothing, a reset of its rate limit: seconds, epoch seconds or milliseconds, or a date.
 * Times are relative to the answer's own `Date` (to `now` where that is missing or implausible), so that a destination
 * with a wrong clock is still understood.
 *
 * @param now epoch ms
 * @param capMs a longer wish is shortened to this
 * @returns a delay in [0, capMs] ms; `null` for absent, negative, unreadable or absurd values: use your own backoff.
 */
export function parseRetryAfter(headers: RetryAfterHeaders, now: number, capMs: number): number | null {
  const answeredAt = readAnsweredAt(headers.date, now)
  const delayMs =
    bounded(readRetryAfter(headers.retryAfter?.trim(), answeredAt)) ??
    bounded(readReset(headers.reset?.trim(), answeredAt))
  return delayMs === null ? null : Math.min(Math.ceil(delayMs), capMs)
}

function bounded(delayMs: number | null): number | null {
  return delayMs === null || delayMs > ABSURD_MS ? null : delayMs
}

function readRetryAfter(text: string | undefined, answeredAt: number): number | null {
  if (text === undefined || text === '') return null
  if (DECIMAL.test(text)) return Number(text) * 1_000
  return readGoDuration(text) ?? until(parseHttpDate(text), answeredAt)
}

function readReset(text: string | undefined, answeredAt: number): number | null {
  if (text === undefined || text === '') return null
  if (!DECIMAL.test(text)) return until(parseHttpDate(text) ?? parseInstant(text), answeredAt)
  const number = Number(text)
  if (number >= EPOCH_MS) return until(number, answeredAt)
  return number >= EPOCH_SECONDS ? until(number * 1_000, answeredAt) : number * 1_000
}

function readGoDuration(text: string): number | null {
  if (text.length > 64 || !GO_DURATION.test(text)) return null
  let ms = 0
  for (const [, amount, unit = ''] of text.matchAll(GO_PART)) ms += Number(amount) * (GO_UNIT_MS[unit] ?? Number.NaN)
  return Number.isNaN(ms) ? null : ms
}

/** A time that has passed means "now", whether it is a second or a year ago. */
function until(at: number | null, answeredAt: number): number | null {
  return at === null ? null : Math.max(0, at - answeredAt)
}

function readAnsweredAt(date: string | undefined, now: number): number {
  const at = date === undefined ? null : parseHttpDate(date.trim())
  return at !== null && Math.abs(at - now) <= PLAUSIBLE_CLOCK_OFFSET_MS ? at : now
}

/** RFC 9110 dates start with a weekday; without that check `Date.parse` reads "-5", "1e3" or "12 apples" as dates. */
function parseHttpDate(text: string): number | null {
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /.test(text) || text.length > 40) return null
  const zoned = /(GMT|UTC|[+-]\d{4})$/.test(text) ? text : `${text} GMT`
  const parsed = Date.parse(zoned)
  return Number.isNaN(parsed) ? null : parsed
}
