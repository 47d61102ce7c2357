import type { ActKind, ActOnRecord } from './timeline.js'
import type { TimelineEvent } from './timeline-event.js'

const ACTED: Readonly<Record<ActKind, string>> = {
  redrive: 'returned it to pending',
  settle: 'settled it',
  release: 'released it from quarantine',
  discard: 'discarded it',
  resume: 'resumed its destination',
  push: 'pushed it by hand',
  pause: 'paused its destination',
  skip: 'skipped it, so that the next of its ordering key can go',
  cancel: 'cancelled it',
  send_again: 'asked to send it again as new',
  approve: 'answered the request to send it again as new',
  bulk: 'worked on it with others by a plan',
  reconcile: 'had the destination asked',
}

/** What a person did, with the reason and the evidence that were given. */
export function actEvent(act: ActOnRecord): TimelineEvent {
  const as = typeof act.detail.as === 'string' ? ` as ${act.detail.as.replace('_', ' ')}` : ''
  const answer = typeof act.detail.answer === 'string' ? `: ${act.detail.answer}` : ''
  const evidence = typeof act.detail.evidence === 'string' ? [`evidence: ${act.detail.evidence}`] : []
  const plan = typeof act.detail.plan === 'string' ? [`plan ${act.detail.plan}`] : []
  const request = typeof act.detail.request === 'string' ? [`request ${act.detail.request}`] : []
  const key = typeof act.detail.new_key === 'string' ? [`new key ${act.detail.new_key}`] : []
  return {
    at: act.actedAt,
    kind: 'act',
    text: `${act.actor} ${ACTED[act.action]}${as}${answer}`,
    facts: [`reason: ${act.reason}`, ...evidence, ...request, ...key, ...plan],
    entry: act.entry,
    flagged: false,
  }
}
