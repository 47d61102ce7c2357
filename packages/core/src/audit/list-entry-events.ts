import { actEvent } from './act-event.js'
import { describeOutcome } from './describe-attempt.js'
import { doubtEvents, findingEvent } from './finding-event.js'
import { formatDuration, formatSecond } from './format-instant.js'
import type { AttemptOnRecord, EntryTimeline, LateOutcomeOnRecord } from './timeline.js'
import type { TimelineEvent } from './timeline-event.js'

/** What happened to one business action, and what comes next. */
export function listEntryEvents(entry: EntryTimeline, readAt: number): TimelineEvent[] {
  return [
    queuedEvent(entry),
    ...entry.attempts.map((attempt) => attemptEvent(entry, attempt)),
    ...entry.lateOutcomes.map((late) => lateEvent(entry, late)),
    ...entry.lookups.map((lookup) => findingEvent(entry, lookup)),
    ...nextEvents(entry, readAt),
    ...doubtEvents(entry, readAt),
    ...entry.acts.map(actEvent),
  ]
}

function queuedEvent(entry: EntryTimeline): TimelineEvent {
  const { link, destination, idempotencyKey, bodyDigest } = entry
  const facts = [`key ${idempotencyKey}`, `content sha256 ${bodyDigest.slice(0, 12)}…`]
  const base = { kind: 'queued' as const, entry: entry.id }
  if (link === null) return { ...base, at: entry.createdAt, text: `Queued for ${destination}`, facts, flagged: false }
  const differs = link.bodyDiffers ? ', although this delivery asks for OTHER content' : ''
  const text = `Not queued again: an action for ${destination} already stands under the same key${differs}`
  return { ...base, at: link.linkedAt, text, facts, flagged: link.bodyDiffers }
}

const DECIDED: Readonly<Record<string, string>> = {
  finish: 'done',
  retry: 'to be tried again',
  hold: 'held as uncertain',
  dead_letter: 'given up',
  pause: 'destination paused',
  hand_back: 'handed back',
}

const BECAUSE: Readonly<Record<string, string>> = {
  not_sent: 'nothing had left this process',
  deferred: 'it was asked to come later',
  uncertain_with_key: 'the destination recognises its key',
  no_key: 'the destination recognises no repeat',
  key_window_closed: 'the destination may have forgotten its key',
  attempts_used_up: 'its attempts are used up',
  too_old: 'it is too old',
  rejected_after_doubt: 'a no to this attempt says nothing about the one in doubt',
  rejected: 'repeating it would not help',
  rejected_for_all: 'this no holds for the attempt in doubt, too',
  retry_tells_nothing: 'asking again under the same key would only bring the same answer',
  unsendable: 'the request could not be built',
  credentials: 'credentials were refused',
  throttled: 'it was asked to slow down',
}

function wordReason(reason: string): string {
  return (Object.hasOwn(BECAUSE, reason) ? BECAUSE[reason] : undefined) ?? reason.replaceAll('_', ' ')
}

function attemptEvent(entry: EntryTimeline, attempt: AttemptOnRecord): TimelineEvent {
  const { destination, idempotencyKey, bodyDigest } = entry
  const isOtherKey =
    attempt.keySent !== null && attempt.keySent !== idempotencyKey && attempt.keySent !== `"${idempotencyKey}"`
  const isOtherBody = attempt.digestSent !== null && attempt.digestSent !== bodyDigest
  const decided = Object.hasOwn(DECIDED, attempt.decision) ? DECIDED[attempt.decision] : attempt.decision
  const because = attempt.decisionReason === null ? '' : `, because ${wordReason(attempt.decisionReason)}`
  const next = attempt.nextDueAt === null ? '' : ` at ${formatSecond(attempt.nextDueAt)}`
  return {
    at: attempt.openedAt,
    kind: 'attempt',
    text: `Attempt ${attempt.number} to ${destination}: ${describeOutcome(attempt)}; ${decided}${next}${because}`,
    facts: [
      ...(attempt.detail === null ? [] : [attempt.detail]),
      ...(attempt.durationMs === null || attempt.outcome === 'uncertain'
        ? []
        : [`took ${formatDuration(attempt.durationMs)}`]),
      ...(attempt.digestSent === null
        ? []
        : [
            attempt.keySent === null
              ? 'no key sent'
              : `key ${attempt.keySent}${isOtherKey ? ' (NOT the key of its entry)' : ''}`,
            `content sha256 ${attempt.digestSent.slice(0, 12)}…${isOtherBody ? ' (NOT the content of its entry)' : ''}`,
          ]),
      `by ${attempt.worker}`,
    ],
    entry: entry.id,
    flagged: attempt.outcome === 'uncertain' || isOtherKey || isOtherBody,
  }
}

function lateEvent(entry: EntryTimeline, late: LateOutcomeOnRecord): TimelineEvent {
  const outcome = describeOutcome({ ...late, durationMs: null })
  return {
    at: late.recordedAt,
    kind: 'late_outcome',
    text: `Late answer about attempt ${late.number} to ${entry.destination}: ${outcome}`,
    facts: [...(late.detail === null ? [] : [late.detail]), `by ${late.worker}, after its lease was lost`],
    entry: entry.id,
    flagged: true,
  }
}

function nextEvents(entry: EntryTimeline, readAt: number): TimelineEvent[] {
  const { position, destination } = entry
  const base = { kind: 'next' as const, entry: entry.id, facts: [] }
  if (position.kind === 'leased') {
    const lost = position.expiresAt < readAt
    const state = lost ? 'its worker has not reported back' : 'under way'
    const facts = [`by ${position.worker}`, `lease until ${formatSecond(position.expiresAt)}`]
    const text = `Attempt ${position.attempt} to ${destination}: ${state}`
    return [{ ...base, kind: 'attempt', at: position.openedAt, text, facts, flagged: lost }]
  }
  if (position.kind === 'due') {
    const paused = entry.pause === null ? '' : `, but ${destination} is paused (${entry.pause.reason})`
    const text = `Next attempt to ${destination} is due${paused}`
    return [{ ...base, at: position.dueAt, text, flagged: entry.pause !== null }]
  }
  if (position.kind === 'nowhere') {
    return [{ ...base, at: readAt, text: 'It is pending, but in no queue', flagged: true }]
  }
  return []
}
