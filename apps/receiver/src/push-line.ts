import type { ClaimResult, PlannedDelivery, Reference } from '@counterfoil/core'
import { boundText } from './bound-text.js'
import type { Answer } from './choose-answer.js'
import { describeError } from './describe-error.js'
import type { Claimed, Greeted, PushEnd } from './push-end.js'
import { pushOutcome } from './push-outcome.js'
import type { PushTrack } from './push-track.js'
import type { AnswerWritten } from './write-answer.js'

export type AnsweredPush = {
  readonly end: PushEnd
  readonly answer: Answer
  readonly ack: AnswerWritten
  readonly track: PushTrack
}

/** The one wide line of a push: ids, results and durations. Never a signature, a secret or a payload (I10). */
export function pushLine(push: AnsweredPush): Record<string, unknown> {
  const { end, answer, ack, track } = push
  return {
    source: end.source?.name ?? null,
    outcome: pushOutcome(end),
    // Nobody was there to be answered.
    status: isClientGone(end) ? null : answer.status,
    ack,
    ...describeEnd(end),
    ...durations(track),
    bytes: track.bytes,
  }
}

function isClientGone(end: PushEnd): boolean {
  return end.kind === 'unreadable' && end.cause === 'client_gone'
}

function describeEnd(end: PushEnd): Record<string, unknown> {
  switch (end.kind) {
    case 'turned_away':
    case 'unreadable':
      return { signatureResult: 'unchecked', cause: end.cause }
    case 'refused':
      return {
        signatureResult: end.keyId === null ? 'refused' : 'verified',
        keyId: end.keyId,
        cause: end.cause,
        hint: boundText(end.hint),
      }
    case 'unjudged':
      return { signatureResult: 'unchecked', cause: end.cause, hint: boundText(end.hint) }
    case 'greeted':
      return describeGreeted(end)
    case 'malformed':
      return { signatureResult: 'verified', keyId: end.keyId, cause: end.cause, hint: boundText(end.hint) }
    case 'misconfigured':
      return { signatureResult: 'verified', keyId: end.keyId, cause: end.kind, hint: boundText(end.hint) }
    case 'broken':
      return { signatureResult: 'unchecked', cause: end.kind, ...describeError(end.error) }
    case 'claimed':
      return describeClaimed(end)
  }
}

function describeGreeted(end: Greeted): Record<string, unknown> {
  const line: Record<string, unknown> = {
    signatureResult: end.keyId === null ? 'unchecked' : 'verified',
    keyId: end.keyId,
    handshake: end.answer.name,
  }
  if (end.unconfirmed !== null) line.cause = `unconfirmed: ${boundText(end.unconfirmed)}`
  return line
}

/** A batch is told by its first delivery and its size. */
function describeClaimed(end: Claimed): Record<string, unknown> {
  const delivery = end.push.deliveries[0]
  if (delivery === undefined) return { signatureResult: 'verified', deliveries: 0 }
  const result = end.claim.kind === 'committed' ? end.claim.results[0] : undefined
  const line: Record<string, unknown> = {
    signatureResult: 'verified',
    keyId: delivery.keyId,
    deliveryId: boundText(delivery.deliveryId),
    delivery: result?.deliveryUuid ?? null,
    observation: result?.observation ?? null,
    senderAttempt: delivery.senderAttempt,
    eventAt: delivery.eventAt === null ? null : new Date(delivery.eventAt).toISOString(),
    senderOrderingKey: delivery.senderOrderingKey === null ? null : boundText(delivery.senderOrderingKey),
    eventType: delivery.eventType === null ? null : boundText(delivery.eventType),
    references: openReferences(delivery.references),
  }
  const cause = claimCause(end.claim, delivery)
  if (cause !== null) line.cause = boundText(cause)
  if (end.push.deliveries.length > 1) line.deliveries = end.push.deliveries.length
  return line
}

function claimCause(claim: ClaimResult, delivery: PlannedDelivery): string | null {
  switch (claim.kind) {
    case 'committed':
      return delivery.disposition.kind === 'act' ? null : `${delivery.disposition.kind}: ${delivery.disposition.reason}`
    case 'refused':
      return 'not_due_refused'
    case 'not_started':
    case 'in_doubt':
      return `${claim.kind}: ${claim.cause}`
    case 'unavailable':
      return `unavailable: ${claim.cause}`
  }
}

/** Personal references can be searched, never logged. */
function openReferences(references: readonly Reference[]): Record<string, string> {
  const open: Record<string, string> = Object.create(null)
  for (const reference of references) if (!reference.personal) open[reference.name] = boundText(reference.value)
  return open
}

function durations(track: PushTrack): Record<string, number | null> {
  const { startedAt, readAt, verifiedAt, claimedAt } = track
  return {
    readMs: between(startedAt, readAt),
    verifyMs: between(readAt, verifiedAt),
    claimMs: between(verifiedAt, claimedAt),
    totalMs: between(startedAt, performance.now()),
  }
}

function between(from: number | null, to: number | null): number | null {
  return from === null || to === null ? null : Math.round((to - from) * 100) / 100
}
