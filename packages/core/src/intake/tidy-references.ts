import type { Reference } from './planned-push.js'
import { sanitiseText } from './sanitise-text.js'

const MAX_REFERENCES = 64
const MAX_VALUE_BYTES = 255
const MAX_NAME_BYTES = 64

/**
 * References as they are stored: text of 1 to 255 bytes, each (name, value) once, at most 64 of them. Blank ones are
 * dropped; NUL and lone surrogates become U+FFFD. Routes are written by people, so a number or `null` is met here too.
 */
export function tidyReferences(references: readonly Reference[]): readonly Reference[] {
  const tidy = new Map<string, Reference>()
  for (const reference of references) {
    const value = coerceValue(reference.value)
    const name = sanitiseText(String(reference.name), MAX_NAME_BYTES)
    if (value === null || name === '') continue
    const key = JSON.stringify([name, value])
    const known = tidy.get(key)
    // Said to be personal once is personal: the other way round a log would show it.
    if (known !== undefined) tidy.set(key, { ...known, personal: known.personal || reference.personal === true })
    else if (tidy.size < MAX_REFERENCES) tidy.set(key, { name, value, personal: reference.personal === true })
  }
  return [...tidy.values()]
}

function coerceValue(value: unknown): string | null {
  if (
    typeof value !== 'string' &&
    typeof value !== 'number' &&
    typeof value !== 'bigint' &&
    typeof value !== 'boolean'
  ) {
    return null
  }
  const text = sanitiseText(String(value).trim(), MAX_VALUE_BYTES)
  return text === '' ? null : text
}
