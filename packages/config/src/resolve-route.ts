import {
  type ActionDraft,
  ConfigurationBug,
  parseInstant,
  type Reference,
  type Route,
  type SourceEvent,
  type Transition,
} from '@counterfoil/core'
import type { References } from './route.js'
import type { RouteParts, SchemaLike } from './route-schema.js'

/** How the rest of a configuration bears on its routes. */
export type RouteSurroundings = {
  /** The resolved twin of a transition: its actions are checked, too. */
  readonly transitionOf: (transition: Transition) => Transition
  readonly checkActions: (drafts: readonly ActionDraft[]) => readonly ActionDraft[]
}

/** A name in a schema's path that is surely ours; a record's keys come from the payload and may be personal. */
const FIELD_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,39}$/
const MAX_ISSUES = 5

export function resolveRoute(parts: RouteParts, around: RouteSurroundings): Route {
  const { schema, references, transition, actions } = parts
  return {
    parse: schema === undefined ? null : (payload) => parsePayload(schema, payload),
    references: (event) => (references === undefined ? [] : listReferences(references(event))),
    transition:
      transition === undefined
        ? null
        : {
            use: around.transitionOf(transition.use),
            subject: transition.subject,
            guard: resolveGuard(transition.guard),
            notDue: transition.notDue,
          },
    actions: (event) => (actions === undefined ? [] : around.checkActions(actions(event))),
  }
}

function parsePayload(schema: SchemaLike, payload: unknown): ReturnType<NonNullable<Route['parse']>> {
  const parsed = parseSync(schema, payload)
  if (parsed.success) return { ok: true, value: parsed.data }
  // The library's own messages may quote what they met: only place, code and expected type are safe to log (I10).
  const issues = parsed.error.issues.slice(0, MAX_ISSUES).map(({ path, code, expected }) => {
    const place = path.map((step) => (typeof step === 'number' || FIELD_NAME.test(String(step)) ? String(step) : '*'))
    const wanted = typeof expected === 'string' ? ` (expected ${expected})` : ''
    return `/${place.join('/')} ${code ?? 'invalid'}${wanted}`
  })
  return { ok: false, message: issues.join('; ') }
}

function parseSync(schema: SchemaLike, payload: unknown): ReturnType<SchemaLike['safeParse']> {
  try {
    return schema.safeParse(payload)
  } catch (error) {
    if (error instanceof Error && error.constructor.name.includes('AsyncError')) {
      throw new ConfigurationBug("a route's schema is asynchronous; it must decide without waiting")
    }
    throw error
  }
}

function listReferences(references: References): readonly Reference[] {
  return Object.entries(references).flatMap(([name, given]) => {
    const isPair = typeof given === 'object' && given !== null
    const value = isPair ? given.value : given
    if (value === null || value === undefined) return []
    return [{ name, value: String(value), personal: isPair && given.personal }]
  })
}

function resolveGuard(
  guard: ((event: SourceEvent) => string | number | Date) | undefined,
): ((event: SourceEvent) => number) | null {
  if (guard === undefined) return null
  return (event) => {
    const value = guard(event)
    return (value instanceof Date ? value.getTime() : parseInstant(value)) ?? Number.NaN
  }
}
