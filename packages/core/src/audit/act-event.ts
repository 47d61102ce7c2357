import type { ActOnRecord } from './timeline.js'
import type { TimelineEvent } from './timeline-event.js'

const ACTED: Readonly<Record<ActOnRecord['action'], string>> = {
  redrive: 'returned it to pending',
  settle: 'settled it',
  release: 'released it from quarantine',
  discard: 'discarded it',
  resume: 'resumed its destination',
  push: 'pushed it by hand',
  reconcile: 'had the destination asked',
}

/** What a person did, with the reason and the evidence that were given. */
export function actEvent(act: ActOnRecord): TimelineEvent {
  const as =
    act.detail.as === 'delivered' ? ' as delivered' : act.detail.as === 'not_delivered' ? ' as not delivered' : ''
  const evidence = typeof act.detail.evidence === 'string' ? [`evidence: ${act.detail.evidence}`] : []
  return {
    at: act.actedAt,
    kind: 'act',
    text: `${act.actor} ${ACTED[act.action]}${as}`,
    facts: [`reason: ${act.reason}`, ...evidence],
    entry: act.entry,
    flagged: false,
  }
}
