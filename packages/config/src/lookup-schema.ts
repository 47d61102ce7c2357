import { FINDINGS, type JsonTemplate } from '@counterfoil/core'
import { z } from 'zod'
import { count, duration, oneOf, pointer, strict } from './schema-parts.js'

const STATUS_WANTED = "must be a status, a class such as '2xx', or a list of them"

const status = z.unknown().transform((value, context) => {
  const range = readStatus(value)
  if (range !== null) return range
  context.addIssue(STATUS_WANTED)
  return z.NEVER
})

/** Inclusive ranges: `404`, `'2xx'`. */
function readStatus(value: unknown): readonly [number, number] | null {
  if (typeof value === 'number') return Number.isInteger(value) && value >= 200 && value <= 599 ? [value, value] : null
  const digit = typeof value === 'string' ? /^([2-5])xx$/.exec(value)?.[1] : undefined
  return digit === undefined ? null : [Number(digit) * 100, Number(digit) * 100 + 99]
}

const statuses = z.union([status.transform((one) => [one]), z.array(status).min(1)], { error: STATUS_WANTED })

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()], {
  error: 'must be a text, a number, true, false or null',
})

const rule = strict({
  status: statuses.optional(),
  pointer: pointer.optional(),
  equals: scalar.optional(),
  exists: z.boolean({ error: 'must be true or false' }).optional(),
  empty: z.boolean({ error: 'must be true or false' }).optional(),
  finding: oneOf(FINDINGS),
})

const jsonTemplate: z.ZodType<JsonTemplate> = z.json({ error: 'must be JSON, with placeholders in its texts' })

export const lookupSchema = strict({
  method: oneOf(['GET', 'POST']).optional(),
  search: z.literal(true, { error: 'must be true' }).optional(),
  url: z.string({ error: 'must be a path or a URL with placeholders, such as /messages?key={key}' }).min(1, 'is empty'),
  body: jsonTemplate.optional(),
  rules: z.array(rule, { error: 'must be a list of rules' }).min(1, 'is empty: nothing would ever be found out'),
  grace: duration(0).optional(),
  first: duration().optional(),
  cap: duration().optional(),
  maxProbes: count(1, 1_000).optional(),
  concurrency: count(1, 64).optional(),
  didNot: oneOf(['resend', 'review']).optional(),
})

export type LookupParts = z.output<typeof lookupSchema>
export type LookupRuleParts = LookupParts['rules'][number]
