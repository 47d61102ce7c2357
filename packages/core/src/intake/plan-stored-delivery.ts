import { decodeBody } from './decode-body.js'
import type { Malformed } from './malformed.js'
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
  source: Pick<SourceContract, 'name' | 'decode' | 'eventType' | 'routes' | 'otherwise'>,
  stored: Pick<PlannedDelivery, 'deliveryId' | 'eventType' | 'body' | 'contentType'>,
  newId: () => string,
): PlannedDisposition | Malformed | Misconfigured {
  const decoded = decodeBody(source.decode, stored.contentType, stored.body)
  if (decoded.kind === 'malformed') return decoded
  const { document, payload, payloadJson, form } = decoded
  const type = readEventType(source.eventType, { headers: new Map(), document, form })
  if (stored.eventType === null && type.kind === 'malformed') return type
  const event = {
    source: source.name,
    deliveryId: stored.deliveryId,
    type: stored.eventType ?? (type.kind === 'type' ? type.value : null),
    payload,
    envelope: document,
    exactText: (pointer: string) => (payloadJson === null ? null : readExactText(payloadJson, pointer)),
  }
  return planDisposition(source, event, newId)
}
