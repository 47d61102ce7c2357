import { answerHandshake } from './answer-handshake.js'
import type { Stale } from './check-age.js'
import { type DecodedBody, decodeBody, readContentType } from './decode-body.js'
import type { HandshakeAnswer } from './handshake.js'
import type { Malformed } from './malformed.js'
import { planDelivery } from './plan-delivery.js'
import type { Misconfigured } from './plan-disposition.js'
import type { PlannedDelivery, PlannedPush } from './planned-push.js'
import type { PushRequest } from './push-request.js'
import type { SourceContract } from './source-contract.js'
import type { Verified } from './verification.js'

export type PlanResult =
  /** Ready to be claimed; also a quarantined delivery, where the source keeps what it can't use. */
  | { readonly kind: 'planned'; readonly push: PlannedPush }
  /** To be answered, and nothing to be claimed. */
  | { readonly kind: 'handshake'; readonly answer: HandshakeAnswer }
  /** The signed field says that it is too old: 401. */
  | Stale
  /** 400. */
  | Malformed
  /** 503. */
  | Misconfigured

/**
 * From a verified push to what is to be claimed: decode, handshake, split, and each delivery planned for itself. Pure,
 * and never throws for anything that a sender can write.
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
  const contentType = readContentType(request.headers)
  const decoded = decodeBody(source.decode, contentType, request.rawBody)
  const document = decoded.kind === 'decoded' ? decoded.document : undefined
  const handshake = answerHandshake(source.handshakes, 'after_verification', {
    request,
    verified: verification,
    document,
  })
  if (handshake !== null) return { kind: 'handshake', answer: handshake }
  const frame = { source, headers: request.headers, contentType, verification, now, newId }
  const slices = splitPush(source, request, decoded)
  if (slices === null) return asPush(planDelivery(frame, request.rawBody, decoded))
  // As one: where the source quarantines what it can't use, the whole push is kept under its digest.
  if (slices.kind === 'malformed') return asPush(planDelivery(frame, request.rawBody, slices))
  const deliveries: PlannedDelivery[] = []
  for (const bytes of slices.slices) {
    const planned = planDelivery(frame, bytes, decodeBody(source.decode, contentType, bytes))
    if (planned.kind !== 'delivery') return planned
    deliveries.push(planned.delivery)
  }
  return { kind: 'planned', push: { deliveries } }
}

function splitPush(
  source: SourceContract,
  request: PushRequest,
  decoded: DecodedBody | Malformed,
): { readonly kind: 'slices'; readonly slices: readonly Buffer[] } | Malformed | null {
  if (source.split === null || decoded.kind === 'malformed' || decoded.documentJson === null) return null
  const split = source.split(decoded.document, decoded.documentJson, request.headers)
  return split.kind === 'whole' ? null : split
}

function asPush(planned: ReturnType<typeof planDelivery>): PlanResult {
  return planned.kind === 'delivery' ? { kind: 'planned', push: { deliveries: [planned.delivery] } } : planned
}
