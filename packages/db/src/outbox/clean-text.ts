/** Of `attempt.detail` and `late_outcome.detail`. */
const DETAIL_LIMIT_BYTES = 1000

/** Text of one byte a character fills the limit with this many; the rest is cut before the expensive part. */
const WORTH_READING = 2 * DETAIL_LIMIT_BYTES

/** Control characters, line breaks included, and the marks that turn text around on a terminal. */
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu
const LONE_SURROGATES = /\p{Surrogate}/gu

const encoder = new TextEncoder()

/**
 * Makes text from outside fit to be stored and shown: no NUL (PostgreSQL refuses it), no lone surrogate, no control
 * character, at most 1000 bytes of UTF-8 and cut between characters. Empty becomes `null`.
 */
export function cleanText(text: string | null): string | null {
  if (text === null) return null
  const clean = text.slice(0, WORTH_READING).replace(LONE_SURROGATES, '\ufffd').replace(UNSAFE, ' ').trim()
  if (clean === '') return null
  const { read } = encoder.encodeInto(clean, new Uint8Array(DETAIL_LIMIT_BYTES))
  return clean.slice(0, read)
}
