import { checkAge, type Stale } from './check-age.js'
import type { DecodedBody } from './decode-body.js'
import { deliveryIdOf, digestId } from './delivery-id.js'
import { computeIdentityDigest } from './identity-digest.js'
import type { Malformed } from './malformed.js'
import { type Misconfigured, planDisposition } from './plan-disposition.js'
import type { PlannedDelivery } from './planned-push.js'
import type { PushRequest } from './push-request.js'
import { readEventTime, readEventType, readOrderingKey, readSenderAttempt } from './read-event-type.js'
import { readExactText } from './read-exact-text.js'
import type { Readable } from './read-value.js'
import { sanitiseText } from './sanitise-text.js'
import type { SourceContract } from './source-contract.js'
import type { Verified } from './verification.js'

const MAX_REASON_BYTES = 500
const MAX_CONTENT_TYPE_BYTES = 255

/** What the deliveries of one push share. */
export type PushFrame = {
  readonly source: SourceContract
  readonly headers: PushRequest['headers']
  readonly contentType: string | null
  readonly verification: Verified
  readonly now: number
  readonly newId: () => string
}

export type DeliveryPlan =
  | { readonly kind: 'delivery'; readonly delivery: PlannedDelivery }
  | Stale
  | Malformed
  | Misconfigured

/**
 * One delivery: id, age, type, route, in that order.
 * @param bytes the body, or this delivery's part of it
 * @param decoded what is in `bytes`, or why that can't be told
 */
export function planDelivery(frame: PushFrame, bytes: Buffer, decoded: DecodedBody | Malformed): DeliveryPlan {
  const { source, headers, now, newId } = frame
  const readable = decoded.kind === 'decoded'
  const from: Readable = {
    headers,
    document: readable ? decoded.document : undefined,
    form: readable ? decoded.form : null,
  }
  const json = readable ? decoded.documentJson : null
  const identityDigest = computeIdentityDigest(bytes, json, source.volatilePointers)
  const made = { frame, bytes, from, identityDigest }
  const id = deliveryIdOf(source, from, identityDigest)
  // A pointer into a body that can't be read: the body is to blame, not the id.
  if (id.kind === 'malformed') return refuseOrKeep(made, digestId(identityDigest), readable ? id : decoded)
  if (!readable) return refuseOrKeep(made, id.value, decoded)
  const age = checkAge(source.maxAge, decoded.document, now)
  if (age?.kind === 'stale') return age
  if (age !== null) return refuseOrKeep(made, id.value, age)
  const type = readEventType(source.eventType, from)
  if (type.kind === 'malformed') return refuseOrKeep(made, id.value, type)
  const event = {
    source: source.name,
    deliveryId: id.value,
    type: type.value,
    payload: decoded.payload,
    envelope: decoded.document,
    exactText: (pointer: string) => (decoded.payloadJson === null ? null : readExactText(decoded.payloadJson, pointer)),
  }
  const plan = planDisposition(source, event, newId)
  if (plan.kind === 'misconfigured') return plan
  if (plan.kind === 'malformed') return refuseOrKeep(made, id.value, plan, type.value)
  return plannedDelivery(made, { deliveryId: id.value, eventType: type.value, ...plan })
}

type Made = {
  readonly frame: PushFrame
  readonly bytes: Buffer
  readonly from: Readable
  readonly identityDigest: Buffer
}

function refuseOrKeep(made: Made, deliveryId: string, why: Malformed, eventType: string | null = null): DeliveryPlan {
  if (made.frame.source.ack.onMalformed === 'refuse_400') return why
  const reason = sanitiseText(`${why.cause}: ${why.hint}`, MAX_REASON_BYTES)
  return plannedDelivery(made, { deliveryId, eventType, disposition: { kind: 'quarantined', reason }, references: [] })
}

function plannedDelivery(
  { frame, bytes, from, identityDigest }: Made,
  plan: Pick<PlannedDelivery, 'deliveryId' | 'eventType' | 'disposition' | 'references'>,
): DeliveryPlan {
  const { source, contentType, verification, newId } = frame
  const delivery: PlannedDelivery = {
    id: newId(),
    observationId: newId(),
    source: source.name,
    deliveryId: plan.deliveryId,
    identityDigest,
    eventType: plan.eventType,
    keyId: verification.keyId,
    senderAttempt: readSenderAttempt(source.senderAttempt, from),
    eventAt: readEventTime(source.eventTime, from),
    senderOrderingKey: readOrderingKey(source.orderingKey, from),
    body: bytes,
    contentType: contentType === null ? null : sanitiseText(contentType, MAX_CONTENT_TYPE_BYTES),
    references: plan.references,
    disposition: plan.disposition,
  }
  return { kind: 'delivery', delivery }
}
