import { z } from 'zod'
import { count, duration, headerName, oneOf, pointer, strict } from './schema-parts.js'

/** A shorter key could not hold the digest that tells long keys apart. */
const MIN_KEY_LENGTH = 44

const shared = {
  lifetime: duration(),
  margin: duration(0).optional(),
  maxLength: count(MIN_KEY_LENGTH, 255).optional(),
  form: oneOf(['text', 'uuid']).optional(),
}
const headerKey = strict({ header: headerName, quoted: z.boolean().optional(), ...shared })
const bodyKey = strict({ pointer, ...shared })

const FORMS =
  "must be { header, lifetime }, { pointer, lifetime }, 'upsert' or 'none': it decides whether a doubtful send may be repeated"

/** How the destination recognises a repeat. Told apart by hand, so that a mistake inside is told at its place. */
export const idempotencySchema = z.unknown().transform((value, context) => {
  if (value === 'none' || value === 'upsert') return value
  if (typeof value !== 'object' || value === null) {
    context.addIssue(FORMS)
    return z.NEVER
  }
  const parsed = Object.hasOwn(value, 'pointer') ? bodyKey.safeParse(value) : headerKey.safeParse(value)
  if (parsed.success) return parsed.data
  for (const { path, message } of parsed.error.issues) context.addIssue({ code: 'custom', path: [...path], message })
  return z.NEVER
})
