import type { PlannedTransition } from '../transition/transition.js'
import { parseJson } from './parse-json.js'
import { planDisposition } from './plan-disposition.js'
import type { PlannedDelivery } from './planned-push.js'
import { readExactText } from './read-exact-text.js'
import type { SourceContract } from './source-contract.js'

/**
 * The transition that today's configuration finds for a delivery that was stored earlier: one that was deferred, or is
 * released by a person. `null`: the source is gone, or no route with a transition wants it any more.
 */
export function planStoredTransition(
  sources: ReadonlyMap<string, SourceContract>,
  delivery: Pick<PlannedDelivery, 'source' | 'deliveryId' | 'eventType' | 'body'>,
  newId: () => string,
): PlannedTransition | null {
  const source = sources.get(delivery.source)
  const parsed = parseJson(delivery.body)
  if (source === undefined || parsed.kind !== 'parsed') return null
  const event = {
    source: delivery.source,
    deliveryId: delivery.deliveryId,
    type: delivery.eventType,
    payload: parsed.value,
    exactText: (pointer: string) => readExactText(parsed.bytes, pointer),
  }
  const planned = planDisposition(source, event, newId)
  if (planned.kind !== 'planned' || planned.disposition.kind !== 'act') return null
  return planned.disposition.transition
}
