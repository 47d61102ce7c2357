import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Admitted, admitPush } from './admit-push.js'
import { chooseAnswer } from './choose-answer.js'
import { claimPush } from './claim-push.js'
import { planArrival } from './plan-arrival.js'
import type { PushDeps } from './push-deps.js'
import type { PushEnd } from './push-end.js'
import type { Arrival } from './push-handler.js'
import { toPushRequest } from './push-request.js'
import { type PushTrack, startTrack } from './push-track.js'
import { readBody } from './read-body.js'
import { recordPush } from './record-push.js'
import { chooseFarewell, writeAnswer } from './write-answer.js'

/**
 * One push from its headers to its record: admit → read → verify and plan → claim → answer → record.
 *
 * Nothing is parsed before the signature over the exact bytes is checked, nothing is answered with success before the
 * commit (I1), and no record delays an answer. Each step returns what became of it; wherever a push ends, the
 * answer is chosen in one place.
 */
export async function receivePush(
  request: IncomingMessage,
  response: ServerResponse,
  arrival: Arrival,
  deps: PushDeps,
): Promise<void> {
  const track = startTrack()
  const url = arrival.url ?? request.url ?? ''
  const admission = admitPush(request, url, deps)
  try {
    if (admission.kind === 'admitted' && arrival.waitsForContinue === true) response.writeContinue()
    const end = admission.kind === 'admitted' ? await takePush(request, url, admission, track, deps) : admission
    const answer = chooseAnswer(end, deps)
    const ack = await writeAnswer(request, response, answer, chooseFarewell(end, arrival, deps.isClosing()))
    recordPush({ end, answer, ack, track }, deps)
  } finally {
    if (admission.kind === 'admitted') admission.seat.leave()
  }
}

async function takePush(
  request: IncomingMessage,
  url: string,
  admitted: Admitted,
  track: PushTrack,
  deps: PushDeps,
): Promise<PushEnd> {
  const { source, seat, now } = admitted
  try {
    const body = await readBody(request, { limitBytes: source.bodyLimitBytes, timeoutMs: deps.bodyTimeoutMs }, seat)
    if (body.kind !== 'read') return { kind: 'unreadable', source, cause: body.kind }
    track.readAt = performance.now()
    track.bytes = body.bytes.length

    const planned = planArrival(source, toPushRequest(request, url, source, body.bytes), now, deps)
    // The hot path answers at once, and an await that is not needed costs every push a turn.
    const plan = planned instanceof Promise ? await planned : planned
    track.verifiedAt = performance.now()
    if (plan.kind !== 'planned') return plan

    const claim = await claimPush(plan.push, track.startedAt + source.ack.deadlineMs, deps)
    track.claimedAt = performance.now()
    return { kind: 'claimed', source, push: plan.push, claim }
  } catch (error) {
    return { kind: 'broken', source, error }
  }
}
