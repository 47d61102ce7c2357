import type { ConditionalUpdate, PlannedPush } from '@counterfoil/core'

/** With whom a push may share its transaction. */
export type LaneChoice =
  /** With every other push that changes nothing of the business. */
  | { readonly kind: 'plain' }
  /** With pushes of the same conditional update. */
  | { readonly kind: 'table'; readonly transition: ConditionalUpdate }
  /** With nobody. */
  | { readonly kind: 'alone' }

/** Nobody shares the fate of a push that may wait for a row, or that runs the owner's code on the database. */
export function chooseLane(push: PlannedPush): LaneChoice {
  const transitions = push.deliveries.flatMap(({ disposition }) =>
    disposition.kind === 'act' && disposition.transition !== null ? [disposition.transition.transition] : [],
  )
  const [transition] = transitions
  if (transition === undefined) return { kind: 'plain' }
  if (push.deliveries.length > 1 || transition.kind === 'custom' || transition.onApplied !== undefined) {
    return { kind: 'alone' }
  }
  return { kind: 'table', transition }
}

/** What two pushes that run alone must not do at once: speak of one subject, or of one delivery. */
export function chooseKey(push: PlannedPush): string {
  const parts = push.deliveries.map(({ source, deliveryId, disposition }) =>
    disposition.kind === 'act' && disposition.transition !== null
      ? [disposition.transition.transition.name, disposition.transition.subject]
      : [source, deliveryId],
  )
  return JSON.stringify(parts)
}
