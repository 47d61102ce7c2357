import type { StatusRange } from '@counterfoil/core'
import { z } from 'zod'
import { headerName, oneOf, pointer, strict } from './schema-parts.js'

export const OUTCOME_WORDS = [
  'accepted',
  'repeat',
  'rejected',
  'key_reused',
  'gone',
  'unauthorised',
  'deferred',
  'not_processed',
  'in_progress',
  'uncertain',
  'held',
] as const

const STATUS_FORMS = "must be a status such as 409, '4xx', '500-504', or a list of those"
const SPAN = /^([1-5]\d\d)-([1-5]\d\d)$/
const HUNDRED = /^([1-5])xx$/

const status = z.unknown().transform((value, context): StatusRange => {
  const range = readStatus(value)
  if (range !== null) return range
  context.addIssue(STATUS_FORMS)
  return z.NEVER
})

function readStatus(value: unknown): StatusRange | null {
  if (typeof value === 'number') return Number.isInteger(value) && value >= 100 && value <= 599 ? value : null
  if (typeof value !== 'string') return null
  const hundred = HUNDRED.exec(value)
  if (hundred !== null) return [Number(hundred[1]) * 100, Number(hundred[1]) * 100 + 99]
  const span = SPAN.exec(value)
  return span !== null && Number(span[1]) <= Number(span[2]) ? [Number(span[1]), Number(span[2])] : null
}

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()])
const test = z.union([scalar, z.array(scalar).min(1), z.strictObject({ exists: z.boolean() })], {
  error: 'must be a value, a list of values, or { exists: true } or { exists: false }',
})

export const matcherSchema = strict({
  status: z.union([z.array(status).min(1), status.transform((one) => [one])], { error: STATUS_FORMS }).optional(),
  headers: z.record(headerName, test).optional(),
  body: z.record(pointer, test).optional(),
  outcome: oneOf(OUTCOME_WORDS),
  decidesEarlier: z.boolean({ error: 'must be true or false' }).optional(),
})

export type MatcherParts = z.output<typeof matcherSchema>
