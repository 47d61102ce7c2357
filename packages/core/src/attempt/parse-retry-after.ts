/** Above this a delay is nonsense (milliseconds or an epoch sent as seconds, a year 9999), not a wish. */
const ABSURD_MS = 30 * 24 * 3_600_000

/** A `Date` header further from our clock than this is not believed as the answer's own time. */
const PLAUSIBLE_CLOCK_OFFSET_MS = 24 * 3_600_000

export type RetryAfterHeaders = {
  readonly retryAfter: string | undefined
  /** The answer's own `Date`, for dates relative to the destination's clock. */
  readonly date: string | undefined
}

/**
 * Reads `Retry-After`: whole or decimal seconds, or an HTTP-date relative to the answer's own `Date`
 * (to `now` where that is missing or implausible), so that a destination with a wrong clock is still understood.
 *
 * @param now epoch ms
 * @param capMs a longer wish is shortened to this
 * @returns a delay in [0, capMs] ms; `null` for absent, negative, unreadable or absurd values: use your own backoff.
 */
export function parseRetryAfter(headers: RetryAfterHeaders, now: number, capMs: number): number | null {
  const text = headers.retryAfter?.trim()
  if (text === undefined || text === '') return null
  const delayMs = /^\d{1,12}(\.\d{1,9})?$/.test(text) ? Number(text) * 1000 : untilDate(text, headers.date, now)
  if (delayMs === null || delayMs > ABSURD_MS) return null
  return Math.min(Math.ceil(delayMs), capMs)
}

function untilDate(text: string, dateHeader: string | undefined, now: number): number | null {
  const at = parseHttpDate(text)
  if (at === null) return null
  const answeredAt = dateHeader === undefined ? null : parseHttpDate(dateHeader.trim())
  const plausible = answeredAt !== null && Math.abs(answeredAt - now) <= PLAUSIBLE_CLOCK_OFFSET_MS
  // A date that has passed means "now", whether it is a second or a year old.
  return Math.max(0, at - (plausible ? answeredAt : now))
}

/** RFC 9110 dates start with a weekday; without that check `Date.parse` reads "-5", "1e3" or "12 apples" as dates. */
function parseHttpDate(text: string): number | null {
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /.test(text) || text.length > 40) return null
  const zoned = /(GMT|UTC|[+-]\d{4})$/.test(text) ? text : `${text} GMT`
  const parsed = Date.parse(zoned)
  return Number.isNaN(parsed) ? null : parsed
}
