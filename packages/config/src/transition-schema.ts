import type { ConditionalUpdate, CustomTransition, Transition } from '@counterfoil/core'
import { z } from 'zod'
import { aFunction, count, strict } from './schema-parts.js'

const IDENTIFIER = '[A-Za-z_][A-Za-z0-9_$]{0,62}'
const column = z
  .string({ error: 'must be the name of a column' })
  .regex(new RegExp(`^${IDENTIFIER}$`), 'is not a column name (letters, digits, _)')
const name = z
  .string({ error: 'must be a name' })
  .regex(/^[A-Za-z][A-Za-z0-9._-]{0,63}$/, 'must be 1 to 64 letters, digits, dots, dashes or underscores')
const ms = z.number({ error: "must be a duration such as '30s'" }).nonnegative("must be a duration such as '30s'")

const conditionalUpdate = strict({
  kind: z.literal('conditional_update'),
  name,
  table: z
    .string({ error: 'must be the name of a table' })
    .regex(new RegExp(`^${IDENTIFIER}(?:\\.${IDENTIFIER})?$`), "is not 'table' or 'schema.table'"),
  idColumn: column,
  stateColumn: column,
  from: z.string().min(1, 'is empty'),
  to: z.string().min(1, 'is empty'),
  dueAtColumn: column,
  returning: z.array(column),
  actions: aFunction<ConditionalUpdate['actions']>('(subject, row) => [{ destination, … }]'),
  onApplied: aFunction<NonNullable<ConditionalUpdate['onApplied']>>('async (trx, subject, row) => { … }').optional(),
  sweep: z.union([
    z.null(),
    strict({ everyMs: ms.min(1000, 'must be at least 1s'), graceMs: ms, batch: count(1, 10_000) }),
  ]),
}).refine((value) => value.from !== value.to, { error: 'is the same as `from`', path: ['to'] })

const custom = strict({
  kind: z.literal('custom'),
  name,
  apply: aFunction<CustomTransition['apply']>('async (trx, delivery) => ({ outcome })'),
})

/** Checks a transition and hands on the very object that was given: its identity is what makes a name unique. */
export const transitionSchema = z.unknown().transform((value, context) => {
  const kind = (value as { kind?: unknown } | null)?.kind
  if (kind !== 'conditional_update' && kind !== 'custom') {
    context.addIssue('must be made by conditionalUpdate({ … }) or customTransition({ … })')
    return z.NEVER
  }
  const parsed = kind === 'custom' ? custom.safeParse(value) : conditionalUpdate.safeParse(value)
  for (const issue of parsed.error?.issues ?? []) {
    context.addIssue({ code: 'custom', message: issue.message, path: issue.path, input: value })
  }
  return parsed.success ? (value as Transition) : z.NEVER
})
