import type { EntryTimeline, LookupOnRecord } from './timeline.js'
import type { TimelineEvent } from './timeline-event.js'

type Answer = NonNullable<LookupOnRecord['answer']>

const FOUND: Readonly<Record<Answer['finding'], string>> = {
  took_effect: 'it acted',
  did_not: 'it did not act',
  still_unknown: 'still unknown',
}

const EFFECTS: Readonly<Record<Answer['effect'], string>> = {
  delivered: 'taken for delivered',
  returned: 'returned to pending',
  dead_lettered: 'held as not delivered, for review',
  asked_again: 'to be asked again',
  waits_for_person: 'waits for a person',
  kept: 'kept as evidence only: the entry had moved on meanwhile',
}

const CAUSES: Readonly<Record<string, string>> = {
  no_rule_applies: 'no rule applies to the answer',
  by_rule: 'the answer says so',
  unreadable_answer: 'the answer could not be read as a whole',
  unauthorised: 'our credentials were refused',
  unbuildable: 'the question could not be built',
  too_early: 'it was asked while something could still have been on its way',
}

/** A question to the destination with what it brought; flagged while nobody knows. */
export function findingEvent({ id, destination }: EntryTimeline, lookup: LookupOnRecord): TimelineEvent {
  const { answer, askedAt, askedBy, number } = lookup
  const base = { at: askedAt, kind: 'finding' as const, entry: id }
  const by = lookup.byPerson ? `in the name of ${askedBy}` : `by ${askedBy}`
  if (answer === null) {
    return { ...base, text: `Question ${number} to ${destination}: no answer is on record`, facts: [by], flagged: true }
  }
  const cause = answer.cause !== null && Object.hasOwn(CAUSES, answer.cause) ? CAUSES[answer.cause] : answer.cause
  const because = cause === undefined || cause === null || answer.effect === 'kept' ? '' : ` (${cause})`
  return {
    ...base,
    text: `Question ${number} to ${destination}: ${FOUND[answer.finding]}${because}; ${EFFECTS[answer.effect]}`,
    facts: [
      ...(answer.status === null ? [] : [`answered ${answer.status}`]),
      ...(answer.detail === null ? [] : [answer.detail]),
      by,
    ],
    flagged: answer.finding === 'still_unknown' || answer.effect === 'kept',
  }
}

/** What comes next for an open doubt. */
export function doubtEvents({ id, destination, doubt }: EntryTimeline, readAt: number): TimelineEvent[] {
  if (doubt === null) return []
  const base = { kind: 'next' as const, entry: id, facts: [] }
  const events: TimelineEvent[] = []
  // Until a worker has looked at it nobody knows whether it can be asked about at all.
  if (doubt.nextAskAt !== null && doubt.reviewBy !== null) {
    events.push({
      ...base,
      at: Math.max(doubt.nextAskAt, readAt),
      text: `${destination} is asked about it`,
      flagged: false,
    })
  }
  if (doubt.reviewBy !== null) {
    const overdue = doubt.reviewBy <= readAt
    const text = overdue
      ? 'Overdue: a person has to find out and settle it'
      : 'Overdue from here on, if it is still open'
    events.push({ ...base, at: doubt.reviewBy, text, flagged: overdue })
  }
  return events
}
