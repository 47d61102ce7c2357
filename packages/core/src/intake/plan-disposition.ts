import type { PlannedTransition } from '../transition/transition.js'
import { ConfigurationBug } from './configuration-bug.js'
import { freezeAction } from './freeze-action.js'
import { type Malformed, malformed } from './malformed.js'
import type { Disposition, PlannedEntry, Reference } from './planned-push.js'
import { isStorableText } from './sanitise-text.js'
import type { Route, SourceContract, SourceEvent } from './source-contract.js'
import { tidyReferences } from './tidy-references.js'

const MAX_SUBJECT_BYTES = 255

export type PlannedDisposition = {
  readonly kind: 'planned'
  readonly disposition: Disposition
  readonly references: readonly Reference[]
}

/** Our own configuration can't handle this delivery: answered 503, so that the sender keeps it. */
export type Misconfigured = { readonly kind: 'misconfigured'; readonly hint: string }

/**
 * What the configuration makes of one delivery: its route by event type, the schema, references, and the transition or
 * the frozen actions. Also used again for a delivery that is applied later (deferred or released), with its stored
 * content. The owner's functions may throw, and that is never a crash: on a payload that nobody checked it makes the
 * delivery malformed; on one that the route's schema accepts it is a mistake of ours, as `ConfigurationBug` always is.
 */
export function planDisposition(
  source: Pick<SourceContract, 'routes' | 'otherwise'>,
  event: SourceEvent,
  newId: () => string,
): PlannedDisposition | Malformed | Misconfigured {
  const route = (event.type === null ? undefined : source.routes.get(event.type)) ?? source.otherwise
  if (route === null) {
    const reason = event.type === null ? 'the push names no event type' : 'no route for this event type'
    return { kind: 'planned', disposition: { kind: 'ignored', reason }, references: [] }
  }
  let isChecked = false
  try {
    const parsed = route.parse === null ? { ok: true as const, value: event.payload } : route.parse(event.payload)
    if (!parsed.ok) return malformed('schema', parsed.message)
    isChecked = route.parse !== null
    return applyRoute(route, { ...event, payload: parsed.value }, newId)
  } catch (error) {
    if (error instanceof ConfigurationBug) return { kind: 'misconfigured', hint: error.message }
    // The message of a foreign error may quote the payload; its class can't.
    const what = `the route's own code threw ${error instanceof Error ? error.name : typeof error}`
    if (!isChecked) return malformed('route_failed', what)
    return { kind: 'misconfigured', hint: `${what} on a payload that its schema accepts` }
  }
}

function applyRoute(route: Route, checked: SourceEvent, newId: () => string): PlannedDisposition | Malformed {
  const transition = route.transition === null ? null : planTransition(route.transition, checked)
  if (transition?.kind === 'malformed') return transition
  const entries = route.transition === null ? freezeActions(route, checked, newId) : []
  return {
    kind: 'planned',
    disposition: { kind: 'act', transition, entries },
    references: tidyReferences(route.references(checked)),
  }
}

function planTransition(
  route: NonNullable<Route['transition']>,
  event: SourceEvent,
): (PlannedTransition & { readonly kind?: never }) | Malformed {
  const subject: unknown = route.subject(event)
  if (typeof subject !== 'string' || subject === '' || Buffer.byteLength(subject) > MAX_SUBJECT_BYTES) {
    return malformed('route_failed', `the route's subject is not a text of 1 to ${MAX_SUBJECT_BYTES} bytes`)
  }
  if (!isStorableText(subject)) return malformed('route_failed', "the route's subject has NUL or a lone surrogate")
  const guardMs = route.guard === null ? null : route.guard(event)
  if (guardMs !== null && !Number.isFinite(guardMs))
    return malformed('route_failed', "the route's guard is not an instant")
  return { transition: route.use, subject, guardMs, notDue: route.notDue, payload: event.payload }
}

/** One entry per (destination, key): the same draft twice is one action, two different ones under one key are a bug. */
function freezeActions(route: Route, event: SourceEvent, newId: () => string): readonly PlannedEntry[] {
  const entries = new Map<string, PlannedEntry>()
  for (const draft of route.actions(event)) {
    const entry = freezeAction(draft, newId)
    const place = JSON.stringify([entry.destination, entry.idempotencyKey])
    const known = entries.get(place)
    if (known !== undefined && !known.bodyDigest.equals(entry.bodyDigest)) {
      throw new ConfigurationBug(`a route asks for two different actions for ${entry.destination} under one key`)
    }
    if (known === undefined) entries.set(place, entry)
  }
  return [...entries.values()]
}
