import { parseInstant, parsePointer } from '@counterfoil/core'
import { z } from 'zod'
import { parseDuration } from './duration.js'
import { suggestName } from './nearest-name.js'

/** An object that takes no other names, and says which one was probably meant. */
export function strict<Shape extends z.ZodRawShape>(shape: Shape) {
  const known = Object.keys(shape)
  return z.strictObject(shape, {
    error: (issue) => {
      if (issue.code !== 'unrecognized_keys') return issue.input === undefined ? 'is missing' : 'must be an object'
      const names = (issue as unknown as { readonly keys: readonly string[] }).keys
      return names.map((name) => `"${name}" is not known here${suggestName(name, known)}`).join('; ')
    },
  })
}

/** Milliseconds. Zero is refused unless `least` says otherwise. */
export function duration(least = 1) {
  return z.unknown().transform((value, context) => {
    const ms = parseDuration(value)
    if (ms !== null && ms >= least) return ms
    const wanted = "give milliseconds or text such as '5s', '2m', '24h', '3d'"
    if (value === undefined) context.addIssue(`is missing; ${wanted}`)
    else if (ms === null) context.addIssue(`is not a duration; ${wanted}`)
    else context.addIssue(`must be at least ${least} ms`)
    return z.NEVER
  })
}

export function count(least: number, most: number) {
  return z.int({ error: `must be a whole number from ${least} to ${most}` }).check((context) => {
    if (context.value >= least && context.value <= most) return
    context.issues.push({
      code: 'custom',
      input: context.value,
      message: `must be a whole number from ${least} to ${most}`,
    })
  })
}

/** Epoch milliseconds. */
export const instant = z.unknown().transform((value, context) => {
  const at = value instanceof Date ? value.getTime() : parseInstant(value)
  if (at !== null && !Number.isNaN(at)) return at
  context.addIssue("is not an instant; give ISO 8601 with a zone, such as '2026-01-31T12:00:00Z'")
  return z.NEVER
})

export const headerName = z
  .string({ error: 'must be the name of a header' })
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/, 'is not a header name')
  .transform((name) => name.toLowerCase())

export const pointer = z
  .string({ error: 'must be a JSON pointer' })
  .refine((text) => text !== '' && parsePointer(text) !== null, {
    error: "is not a JSON pointer; it starts with a slash, such as '/data/id'",
  })

const place = z.union([
  z.strictObject({ header: headerName }).transform(({ header }) => ({ kind: 'header' as const, header })),
  z.strictObject({ pointer }).transform((found) => ({ kind: 'pointer' as const, pointer: found.pointer })),
])
const PLACE_FORMS = "{ header: 'x-name' } or { pointer: '/name' }"

export const valuePlace = z.unknown().transform((value, context) => {
  const parsed = place.safeParse(value)
  if (parsed.success) return parsed.data
  context.addIssue(`must be ${PLACE_FORMS}`)
  return z.NEVER
})

export const deliveryIdPlace = z.unknown().transform((value, context) => {
  if (value === 'body-digest') return { kind: 'body_digest' as const }
  const parsed = place.safeParse(value)
  if (parsed.success) return parsed.data
  context.addIssue(
    `${value === undefined ? 'is missing' : 'is not understood'}: without a stable id every redelivery would be a new ` +
      `delivery; give ${PLACE_FORMS}, or 'body-digest' if equal bodies are the same delivery`,
  )
  return z.NEVER
})

export const eventTypePlace = z.unknown().transform((value, context) => {
  const fixed = z.strictObject({ fixed: z.string().min(1).max(255) }).safeParse(value)
  if (fixed.success) return { kind: 'fixed' as const, value: fixed.data.fixed }
  const parsed = place.safeParse(value)
  if (parsed.success) return parsed.data
  context.addIssue(`must be ${PLACE_FORMS} or { fixed: 'type' }`)
  return z.NEVER
})

export function aFunction<F>(what: string) {
  return z.custom<F>((value) => typeof value === 'function', { error: `must be a function: ${what}` })
}

export function oneOf<const Values extends readonly [string, ...string[]]>(values: Values) {
  return z.enum(values, { error: (issue) => `must be one of ${values.join(', ')}${suggestFor(issue.input, values)}` })
}

function suggestFor(given: unknown, values: readonly string[]): string {
  return typeof given === 'string' ? suggestName(given, values) : ''
}
