import { checkAge, type Stale } from './check-age.js'
import { deliveryIdOf, digestId } from './delivery-id.js'
import { computeIdentityDigest } from './identity-digest.js'
import { type Malformed, malformed } from './malformed.js'
import { type ParsedJson, parseJson } from './parse-json.js'
import { type Misconfigured, planDisposition } from './plan-disposition.js'
import type { PlannedDelivery, PlannedPush } from './planned-push.js'
import type { PushRequest } from './push-request.js'
import { readEventType, readSenderAttempt } from './read-event-type.js'
import { readExactText } from './read-exact-text.js'
import { readHeader } from './read-value.js'
import { sanitiseText } from './sanitise-text.js'
import type { SourceContract } from './source-contract.js'
import type { Verified } from './verification.js'

const MAX_REASON_BYTES = 500
const MAX_CONTENT_TYPE_BYTES = 255

export type PlanResult =
  /** Ready to be claimed; also a quarantined delivery, where the source keeps what it can't use. */
  | { readonly kind: 'planned'; readonly push: PlannedPush }
  /** The signed field says that it is too old: 401. */
  | Stale
  /** 400. */
  | Malformed
  /** 503. */
  | Misconfigured

/**
 * From a verified push to what is to be claimed: id, parse, age, schema, plan, in that order. Pure, and never throws
 * for anything that a sender can write.
 * @param now epoch milliseconds by the database clock, as well as the receiver knows it
 * @param newId makes UUIDv7s
 */
export function planPush(
  source: SourceContract,
  request: PushRequest,
  verification: Verified,
  now: number,
  newId: () => string,
): PlanResult {
  const parsed = parseJson(request.rawBody)
  const identityDigest = computeIdentityDigest(request.rawBody, parsed, source.volatilePointers)
  const document = parsed.kind === 'parsed' ? parsed.value : undefined
  const frame = { source, request, verification, identityDigest, document, newId }
  const id = deliveryIdOf(source, request.headers, document, identityDigest)
  // A pointer into a body that can't be read: the body is to blame, not the id.
  if (id.kind === 'malformed') return refuseOrKeep(frame, digestId(identityDigest), describeBody(parsed) ?? id)
  const unreadable = describeBody(parsed)
  if (unreadable !== null) return refuseOrKeep(frame, id.value, unreadable)
  const age = checkAge(source.maxAge, document, now)
  if (age?.kind === 'stale') return age
  if (age !== null) return refuseOrKeep(frame, id.value, age)
  const type = readEventType(source.eventType, request.headers, document)
  if (type.kind === 'malformed') return refuseOrKeep(frame, id.value, type)
  const event = {
    source: source.name,
    deliveryId: id.value,
    type: type.value,
    payload: document,
    exactText: (pointer: string) => (parsed.kind === 'parsed' ? readExactText(parsed.bytes, pointer) : null),
  }
  const plan = planDisposition(source, event, newId)
  if (plan.kind === 'misconfigured') return plan
  if (plan.kind === 'malformed') return refuseOrKeep(frame, id.value, plan, type.value)
  return planned(frame, { deliveryId: id.value, eventType: type.value, ...plan })
}

type Frame = {
  readonly source: SourceContract
  readonly request: PushRequest
  readonly verification: Verified
  readonly identityDigest: Buffer
  readonly document: unknown
  readonly newId: () => string
}

function refuseOrKeep(frame: Frame, deliveryId: string, why: Malformed, eventType: string | null = null): PlanResult {
  if (frame.source.ack.onMalformed === 'refuse_400') return why
  const reason = sanitiseText(`${why.cause}: ${why.hint}`, MAX_REASON_BYTES)
  return planned(frame, { deliveryId, eventType, disposition: { kind: 'quarantined', reason }, references: [] })
}

function planned(
  frame: Frame,
  plan: Pick<PlannedDelivery, 'deliveryId' | 'eventType' | 'disposition' | 'references'>,
): PlanResult {
  const { source, request, verification, identityDigest, document, newId } = frame
  const contentType = readHeader(request.headers, 'content-type')
  const delivery: PlannedDelivery = {
    id: newId(),
    observationId: newId(),
    source: source.name,
    deliveryId: plan.deliveryId,
    identityDigest,
    eventType: plan.eventType,
    keyId: verification.keyId,
    senderAttempt: readSenderAttempt(source.senderAttempt, request.headers, document),
    body: request.rawBody,
    contentType: contentType.kind === 'found' ? sanitiseText(String(contentType.value), MAX_CONTENT_TYPE_BYTES) : null,
    references: plan.references,
    disposition: plan.disposition,
  }
  return { kind: 'planned', push: { deliveries: [delivery] } }
}

function describeBody(parsed: ParsedJson): Malformed | null {
  if (parsed.kind === 'parsed') return null
  if (parsed.cause === 'body_not_utf8') return malformed(parsed.cause, 'the body is not UTF-8')
  if (parsed.cause === 'body_too_deep') return malformed(parsed.cause, 'the body is nested too deeply')
  return malformed(parsed.cause, "the body is not JSON; a form-encoding sender must be set to send 'application/json'")
}
