import { SWEEP_SOURCE } from '../transition/sweep-source.js'
import { formatDuration } from './format-instant.js'
import type { ArrivalTimeline, DeliveryTimeline, ObservedArrival } from './timeline.js'
import type { TimelineEvent } from './timeline-event.js'

/** Younger than this, an answer that isn't on record may just not be written down yet (it is within 200 ms). */
const ACK_GRACE_MS = 2_000

/** Every arrival, and what it was answered; an answer that isn't on record may have been sent all the same. */
export function listArrivalEvents(timeline: DeliveryTimeline): TimelineEvent[] {
  const { delivery, observations, acks, readAt } = timeline
  const answered = new Map(acks.map((ack) => [ack.observation, ack]))
  return observations.flatMap((observation) => {
    const isFirst = observation.kind === 'first'
    const at = isFirst ? Math.min(observation.observedAt, claimShownAt(timeline)) : observation.observedAt
    const events = [arrivalEvent(delivery.source, observation, at)]
    const ack = answered.get(observation.id)
    if (ack !== undefined) {
      const lost = ack.result === 'not_written'
      const text = lost
        ? `Answer ${ack.status} could not be handed over: the sender's connection was gone`
        : `Answered ${ack.status}${ack.status === 503 ? ', although it was committed: the answer came too late' : ''}`
      events.push({
        at: Math.max(ack.answeredAt, committedAt(timeline, observation)),
        kind: 'answer',
        text,
        facts: [],
        entry: null,
        flagged: lost,
      })
    } else if (delivery.source !== SWEEP_SOURCE && observation.observedAt < readAt - ACK_GRACE_MS) {
      const text = 'No answer on record: it may have been sent'
      events.push({ at: observation.observedAt, kind: 'answer', text, facts: [], entry: null, flagged: false })
    }
    return events
  })
}

/**
 * Arrival, claim and outcome are written by one transaction, in which the clock is looked at in any order: a push that
 * runs alone takes and judges its row before it is claimed. What caused is shown no later than what followed from it.
 */
export function claimShownAt({ delivery, transitions }: Pick<DeliveryTimeline, 'delivery' | 'transitions'>): number {
  const own = transitions.filter(({ decidedBy }) => decidedBy === 'push' || decidedBy === 'sweep')
  const decided = own.map((one) => one.decidedAt)
  return Math.min(delivery.claimedAt, ...decided)
}

/**
 * An answer comes after what it answers for (I1), but its time is the receiver's, corrected by an offset that is good to
 * a few milliseconds: it is shown no earlier than the commit's own times. The raw time stays in the evidence.
 */
function committedAt({ delivery, entries, transitions }: DeliveryTimeline, observation: ObservedArrival): number {
  if (observation.kind !== 'first') return observation.observedAt
  const first = transitions[0]
  // What a deferral or a release queued came later than this answer.
  const isWrittenByPush = delivery.disposition === 'act' && (first === undefined || first.outcome === 'applied')
  const own = isWrittenByPush ? entries.filter((entry) => entry.link === null) : []
  const written = own.map((entry) => entry.createdAt)
  const decided = transitions.filter((one) => one.decidedBy === 'push').map((one) => one.decidedAt)
  return Math.max(observation.observedAt, delivery.claimedAt, ...written, ...decided)
}

const ARRIVED: Readonly<Record<ObservedArrival['kind'], string>> = {
  first: 'first arrival',
  duplicate: 'repeat, absorbed',
  conflict: 'same id with OTHER content, kept beside the first',
}

function arrivalEvent(source: string, observation: ObservedArrival, at: number): TimelineEvent {
  const { kind, keyId, senderAttempt, instance } = observation
  const by = source === SWEEP_SOURCE ? 'Found by the sweep' : `Pushed by ${source}`
  const counted = senderAttempt === null ? [] : [`sender's attempt ${senderAttempt}`]
  return {
    at,
    kind: 'arrival',
    text: `${by}: ${ARRIVED[kind]}`,
    facts: [`signed with ${keyId}`, ...counted, `at ${instance}`],
    entry: null,
    flagged: kind === 'conflict',
  }
}

/** Arrivals that made no claim. */
export function listRefusalEvents(
  source: string,
  { refusals, unclaimed }: Pick<ArrivalTimeline, 'refusals' | 'unclaimed'>,
): TimelineEvent[] {
  return [
    ...refusals.map(
      (refusal): TimelineEvent => ({
        at: refusal.observedAt,
        kind: 'arrival',
        text: `Pushed by ${source} before its time: asked to come again in ${formatDuration(refusal.retryAfterMs)}, not claimed`,
        facts: [
          `signed with ${refusal.keyId}`,
          ...(refusal.senderAttempt === null ? [] : [`sender's attempt ${refusal.senderAttempt}`]),
        ],
        entry: null,
        flagged: false,
      }),
    ),
    ...unclaimed.map(
      (trace): TimelineEvent => ({
        at: trace.seenAt,
        kind: 'arrival',
        text: `Pushed by ${source} with a valid signature, but its claim was not seen to commit (${trace.cause})`,
        facts: [],
        entry: null,
        flagged: true,
      }),
    ),
  ]
}
