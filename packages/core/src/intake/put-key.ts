import { ConfigurationBug } from './configuration-bug.js'
import { parsePointer } from './json-pointer.js'

/**
 * Puts an idempotency key into the JSON text of a body, before it is frozen. Objects on the way are made where they are
 * missing. Throws `ConfigurationBug` where the place is no member of an object, or holds another value: one of the two
 * would not be the key.
 */
export function putKey(text: string, pointer: string, key: string, destination: string): string {
  const document: unknown = JSON.parse(text)
  const members = parsePointer(pointer) ?? []
  const last = members.at(-1)
  let place = document
  for (const member of members.slice(0, -1)) place = step(place, member)
  if (!isObject(place) || last === undefined) {
    throw new ConfigurationBug(`an action for destination ${destination} has no place for its key at ${pointer}`)
  }
  const found = Object.hasOwn(place, last) ? place[last] : undefined
  if (found !== undefined && found !== key) {
    throw new ConfigurationBug(
      `an action for destination ${destination} has another value than its idempotency key at ${pointer}; leave it out`,
    )
  }
  define(place, last, key)
  return JSON.stringify(document)
}

function step(place: unknown, member: string): unknown {
  if (!isObject(place)) return undefined
  if (!Object.hasOwn(place, member)) define(place, member, {})
  return place[member]
}

/** Also for a member called `__proto__`. */
function define(place: Record<string, unknown>, member: string, value: unknown): void {
  Object.defineProperty(place, member, { value, enumerable: true, configurable: true, writable: true })
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
