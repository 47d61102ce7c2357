import { actEvent } from './act-event.js'
import { claimShownAt, listArrivalEvents, listRefusalEvents } from './list-arrival-events.js'
import { listEntryEvents } from './list-entry-events.js'
import type { ArrivalTimeline, DeliveryTimeline } from './timeline.js'
import type { TimelineEvent, TimelineEventKind } from './timeline-event.js'

/** At the same instant, what caused comes before what followed. */
const ORDER: readonly TimelineEventKind[] = [
  'arrival',
  'claim',
  'transition',
  'queued',
  'answer',
  'act',
  'attempt',
  'late_outcome',
  'finding',
  'next',
]

/** The timeline of one delivery, oldest first. Pure: read from the evidence rows, never stored. */
export function listEvents(timeline: DeliveryTimeline): readonly TimelineEvent[] {
  return sort([
    ...listArrivalEvents(timeline),
    ...listRefusalEvents(timeline.delivery.source, timeline),
    ...listClaimEvents(timeline),
    ...timeline.entries.flatMap((entry) => listEntryEvents(entry, timeline.readAt)),
    ...timeline.acts.map(actEvent),
  ])
}

/** The timeline of an id that was never claimed. */
export function listUnclaimedEvents(arrivals: ArrivalTimeline): readonly TimelineEvent[] {
  return sort(listRefusalEvents(arrivals.source, arrivals))
}

function listClaimEvents(timeline: DeliveryTimeline): TimelineEvent[] {
  const { delivery, transitions, deferredUntil } = timeline
  const kept =
    delivery.disposition === 'act' ? '' : `, kept as ${delivery.disposition}: ${delivery.reason ?? 'no reason'}`
  const events: TimelineEvent[] = [
    event(claimShownAt(timeline), 'claim', `Claimed and committed${kept}`, delivery.disposition === 'quarantined'),
    ...transitions.map((one) =>
      event(
        one.decidedAt,
        'transition',
        `${one.transition} on ${one.subject}: ${one.outcome.replaceAll('_', ' ')} (decided by ${one.decidedBy})`,
        one.outcome === 'not_found',
      ),
    ),
  ]
  if (deferredUntil !== null) events.push(event(deferredUntil, 'next', 'Its time: it is applied by itself', false))
  return events
}

function event(at: number, kind: TimelineEventKind, text: string, flagged: boolean): TimelineEvent {
  return { at, kind, text, facts: [], entry: null, flagged }
}

function sort(events: readonly TimelineEvent[]): readonly TimelineEvent[] {
  return [...events].sort((a, b) => a.at - b.at || ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind))
}
