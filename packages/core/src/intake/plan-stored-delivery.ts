import { type Malformed, malformed } from './malformed.js'
import { parseJson } from './parse-json.js'
import { type Misconfigured, type PlannedDisposition, planDisposition } from './plan-disposition.js'
import type { PlannedDelivery } from './planned-push.js'
import { readEventType } from './read-event-type.js'
import { readExactText } from './read-exact-text.js'
import type { SourceContract } from './source-contract.js'

/**
 * What today's configuration makes of a delivery that is already ours: one that waited for its time, or a quarantined
 * one that a person releases. Headers are not kept, so an event type that was not known at its arrival is read from the
 * body only. Age is no question any more: the claim was made in time.
 */
export function planStoredDelivery(
  source: Pick<SourceContract, 'name' | 'eventType' | 'routes' | 'otherwise'>,
  stored: Pick<PlannedDelivery, 'deliveryId' | 'eventType' | 'body'>,
  newId: () => string,
): PlannedDisposition | Malformed | Misconfigured {
  const parsed = parseJson(stored.body)
  if (parsed.kind === 'invalid') return malformed(parsed.cause, 'the stored body is not JSON that can be used')
  const type = readEventType(source.eventType, new Map(), parsed.value)
  if (stored.eventType === null && type.kind === 'malformed') return type
  const event = {
    source: source.name,
    deliveryId: stored.deliveryId,
    type: stored.eventType ?? (type.kind === 'type' ? type.value : null),
    payload: parsed.value,
    exactText: (pointer: string) => readExactText(parsed.bytes, pointer),
  }
  return planDisposition(source, event, newId)
}
