import type { ActionDraft, SourceEvent } from '@counterfoil/core'
import { z } from 'zod'
import type { DefinedRoute, References } from './route.js'
import { aFunction, oneOf, strict } from './schema-parts.js'
import { transitionSchema } from './transition-schema.js'

type Issue = { readonly path: readonly PropertyKey[]; readonly code?: string; readonly expected?: unknown }

/** What we need of a zod schema; structural, so that another copy of zod works as well. */
export type SchemaLike = {
  safeParse: (
    value: unknown,
  ) =>
    | { readonly success: true; readonly data: unknown }
    | { readonly success: false; readonly error: { readonly issues: readonly Issue[] } }
}

const schemaLike = z.custom<SchemaLike>(
  (value) => typeof (value as { safeParse?: unknown } | null)?.safeParse === 'function',
  { error: 'must be a zod schema' },
)

const definition = strict({
  schema: schemaLike.optional(),
  references: aFunction<(event: SourceEvent) => References>('event => ({ name: value })').optional(),
  transition: strict({
    use: transitionSchema,
    subject: aFunction<(event: SourceEvent) => string>('event => the id of the row'),
    guard: aFunction<(event: SourceEvent) => string | number | Date>("event => the event's own deadline").optional(),
    notDue: oneOf(['discard', 'defer', 'refuse']),
  }).optional(),
  actions: aFunction<(event: SourceEvent) => readonly ActionDraft[]>('event => [{ destination, … }]').optional(),
}).refine((value) => value.transition === undefined || value.actions === undefined, {
  error:
    'has a transition and actions; give the actions to the transition, so that a deferral and the sweep write them too',
  path: ['actions'],
})

/** Unwraps what `route` made, so that problems are told at the places a person wrote. */
export const routeSchema = z
  .custom<DefinedRoute>((value) => (value as { kind?: unknown } | null)?.kind === 'route', {
    error: 'must be made by route({ … })',
  })
  .transform((made): unknown => made.definition)
  .pipe(definition)

export type RouteParts = z.output<typeof definition>
