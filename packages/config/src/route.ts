import type { ActionDraft, NotDuePolicy, SourceEvent, Transition } from '@counterfoil/core'
import type { z } from 'zod'

export type ReferenceValue = string | number | bigint | boolean | null | undefined

/** Name → value to search by. A personal one is searchable, but never logged. */
export type References = Readonly<
  Record<string, ReferenceValue | { readonly value: ReferenceValue; readonly personal: boolean }>
>

export type RouteDefinition<Payload> = {
  /** Checks the decoded body and gives `event.payload` its type. A body that fails it is malformed. */
  readonly schema?: z.ZodType<Payload>
  readonly references?: (event: SourceEvent<Payload>) => References
  readonly transition?: {
    readonly use: Transition
    readonly subject: (event: SourceEvent<Payload>) => string
    /** The event's own deadline (ISO 8601 with a zone, Date or epoch ms): a row with a later one was extended. */
    readonly guard?: (event: SourceEvent<Payload>) => string | number | Date
    /** What to do with an event that comes before its time. There is no default. */
    readonly notDue: NotDuePolicy
  }
  /** Business actions of a delivery without a transition; a transition brings its own. */
  readonly actions?: (event: SourceEvent<Payload>) => readonly ActionDraft[]
}

/** A route whose payload type has done its work. Made by `route`. */
export type DefinedRoute = { readonly kind: 'route'; readonly definition: object }

/** What to do with one event type. The type of `event.payload` comes from `schema`; without one it is `unknown`. */
export function route<Payload = unknown>(definition: RouteDefinition<Payload>): DefinedRoute {
  return { kind: 'route', definition }
}
