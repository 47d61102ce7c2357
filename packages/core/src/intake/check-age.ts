import { readPointer } from './json-pointer.js'
import { type Malformed, malformed } from './malformed.js'
import { parseInstant } from './parse-instant.js'
import type { SourceContract } from './source-contract.js'

export type Stale = { readonly kind: 'stale'; readonly cause: 'delivery_too_old'; readonly hint: string }

/** Judges the signed field that a source limits the age of a delivery by; `null` when it is young enough. */
export function checkAge(maxAge: SourceContract['maxAge'], document: unknown, now: number): Stale | Malformed | null {
  if (maxAge === null) return null
  const at = parseInstant(readPointer(document, maxAge.pointer))
  if (at === null) {
    return malformed(
      'age_field_invalid',
      `field ${maxAge.pointer} is neither an ISO 8601 time with a zone nor an epoch`,
    )
  }
  const ageMs = now - at
  if (ageMs <= maxAge.ms) return null
  const seconds = Math.round(ageMs / 1000)
  return { kind: 'stale', cause: 'delivery_too_old', hint: `${seconds} s old, the limit is ${maxAge.ms / 1000} s` }
}
