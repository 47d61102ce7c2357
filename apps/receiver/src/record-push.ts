import type { ClaimResult, DeliveryResult, PlannedPush } from '@counterfoil/core'
import type { PushDeps } from './push-deps.js'
import type { Claimed, PushEnd } from './push-end.js'
import { type AnsweredPush, pushLine } from './push-line.js'
import { pushOutcome } from './push-outcome.js'
import type { AnswerWritten } from './write-answer.js'

const BODY_CONSUMED_HINT =
  'something before this handler read or parsed the body, so the signed bytes are gone: ' +
  'mount the handler before express.json() and other body parsers, or register the Fastify adapter as a plugin'

/** Everything that follows an answer: the ack row, the trace of a push without a claim, wake-ups, the wide line. */
export function recordPush(push: AnsweredPush, deps: PushDeps): void {
  const { end, answer, ack } = push
  if (end.kind === 'claimed') recordClaim(end, answer.status, ack, deps)
  logPush(push, deps)
}

function recordClaim(end: Claimed, status: number, ack: AnswerWritten, deps: PushDeps): void {
  const { claim } = end
  if (claim.kind === 'committed') {
    recordCommitted(end.push, claim, status, ack, deps)
    deps.spool.noteCommit()
  } else if (claim.kind !== 'refused') {
    spoolUnclaimed(end, deps)
    if (claim.kind === 'in_doubt' && claim.later !== undefined) void watchLater(end, claim.later, status, ack, deps)
  }
}

function recordCommitted(
  push: PlannedPush,
  claim: ClaimResult & { kind: 'committed' },
  status: number,
  ack: AnswerWritten,
  deps: PushDeps,
): void {
  const answeredAt = databaseNow(deps)
  for (const [index, result] of claim.results.entries()) {
    const observationId = push.deliveries[index]?.observationId
    if (observationId === undefined) continue
    deps.acks.record({ deliveryUuid: result.deliveryUuid, observationId, status, result: ack, answeredAt })
  }
  for (const destination of claim.destinations ?? plannedDestinations(push, claim.results)) deps.wake(destination)
}

/** Only first arrivals wrote entries. */
function plannedDestinations(push: PlannedPush, results: readonly DeliveryResult[]): ReadonlySet<string> {
  const destinations = new Set<string>()
  for (const [index, delivery] of push.deliveries.entries()) {
    if (results[index]?.kind !== 'first' || delivery.disposition.kind !== 'act') continue
    for (const entry of delivery.disposition.entries) destinations.add(entry.destination)
  }
  return destinations
}

function spoolUnclaimed(end: Claimed, deps: PushDeps): void {
  const cause = 'cause' in end.claim ? `${end.claim.kind}: ${end.claim.cause}` : end.claim.kind
  const seenAt = databaseNow(deps)
  for (const { observationId, source, deliveryId, identityDigest } of end.push.deliveries) {
    deps.spool.add({ id: observationId, source, deliveryId, identityDigest, seenAt, cause })
  }
}

/** "Answered 503, committed later": the claim stands, so its answer goes on record and its entries are woken. */
async function watchLater(
  end: Claimed,
  later: Promise<ClaimResult>,
  status: number,
  ack: AnswerWritten,
  deps: PushDeps,
): Promise<void> {
  const claim = await later
  if (claim.kind !== 'committed') return
  recordCommitted(end.push, claim, status, ack, deps)
  const delivery = claim.results[0]?.deliveryUuid ?? null
  deps.log.warn({ source: end.source.name, delivery, status }, 'push.committed_later')
}

function logPush(push: AnsweredPush, deps: PushDeps): void {
  const { end } = push
  if (end.kind === 'claimed') {
    if (deps.log.isLevelEnabled('info')) deps.log.info(pushLine(push), 'push.received')
    return
  }
  const line = pushLine(push)
  if (end.kind === 'unreadable' && end.cause === 'body_consumed') {
    deps.refusals.write({ ...line, hint: BODY_CONSUMED_HINT }, 'push.received', 'error')
    return
  }
  deps.refusals.write(line, 'push.received', levelOf(end))
}

/** Handshakes pass the same sampling as refusals: anybody may send an OPTIONS. */
function levelOf(end: PushEnd): 'info' | 'warn' | 'error' {
  if (end.kind === 'greeted' && pushOutcome(end) === 'handshake') return 'info'
  return end.kind === 'broken' || end.kind === 'misconfigured' || end.kind === 'unjudged' ? 'error' : 'warn'
}

function databaseNow(deps: PushDeps): number {
  const clock = deps.readClock()
  return clock.kind === 'unknown' ? Date.now() : clock.now
}
