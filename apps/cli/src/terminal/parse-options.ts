import { parseInstant } from '@counterfoil/core'
import { InvalidArgumentError } from 'commander'

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** A whole number within bounds. */
export function parseCount(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
    if (!(value >= least && value <= most))
      throw new InvalidArgumentError(`give a whole number from ${least} to ${most}.`)
    return value
  }
}

/** `500ms`, `5s`, `10m`, `2h`, `7d` → milliseconds. */
export function parseDuration(text: string): number {
  const ms = readDuration(text)
  if (ms === null) throw new InvalidArgumentError('give a number and a unit: 500ms, 5s, 10m, 2h or 7d.')
  return ms
}

function readDuration(text: string): number | null {
  const match = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h|d)$/.exec(text)
  const unit = match?.[2] === undefined ? undefined : UNITS[match[2]]
  return match?.[1] === undefined || unit === undefined ? null : Number(match[1]) * unit
}

/** A day or an instant in ISO 8601, UTC where no zone is given; or how long ago. Epoch ms. */
export function parseMoment(text: string): number {
  const ago = readDuration(text)
  if (ago !== null) return Date.now() - ago
  if (/^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})?)?$/.test(text)) {
    const zoned = text.length > 10 && !/(Z|[+-]\d{2}:\d{2})$/.test(text) ? `${text}Z` : text
    const at = Date.parse(zoned.replace(' ', 'T'))
    if (!Number.isNaN(at)) return at
  }
  throw new InvalidArgumentError('give 2026-11-29, 2026-11-29T14:00Z, or how long ago: 90m, 12h, 7d.')
}

/** The same, or epoch seconds or milliseconds as a signed timestamp has them. */
export function parseSignedTime(text: string): number {
  return (/^\d{9,13}$/.test(text) ? parseInstant(text) : null) ?? parseMoment(text)
}

/** An http or https URL, as it was written: a normalised one would be another text than a sender signed. */
export function parseHttpUrl(text: string): string {
  if (/^https?:\/\/[\x21-\x7e]+$/i.test(text) && URL.canParse(text)) return text
  throw new InvalidArgumentError('give an http or https URL.')
}

/** Adds `Name: value` to those before it. */
export function collectHeader(text: string, before: Record<string, string>): Record<string, string> {
  const match = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*)$/.exec(text)
  if (match?.[1] === undefined || match[2] === undefined) throw new InvalidArgumentError('give it as Name: value.')
  return { ...before, [match[1].toLowerCase()]: match[2] }
}

/** Adds `name=value` to those before it. */
export function collectOption(text: string, before: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const match = /^([A-Za-z][A-Za-z0-9]*)=(.+)$/s.exec(text)
  if (match?.[1] === undefined || match[2] === undefined) throw new InvalidArgumentError('give it as name=value.')
  return new Map(before).set(match[1], match[2])
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** A cursor is the id that a page ended with. */
export function parseCursor(text: string): string {
  if (!UUID.test(text)) throw new InvalidArgumentError('give the cursor as it was printed.')
  return text
}

/** One of our own ids. */
export function parseId(text: string): string {
  if (!UUID.test(text)) throw new InvalidArgumentError("give the full id, as 'counterfoil show' prints it.")
  return text.toLowerCase()
}
