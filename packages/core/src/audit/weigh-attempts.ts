import type { AttemptOnRecord, EntryTimeline, OutcomeKind } from './timeline.js'

/** One attempt with what came late about it taken into account. */
export type WeighedAttempt = {
  readonly number: number
  readonly openedAt: number
  readonly endedAt: number
  readonly outcome: OutcomeKind
  readonly status: number | null
  readonly repeat: boolean
  readonly cause: string | null
  readonly detail: string | null
  readonly durationMs: number | null
  /** `unknown` where the worker that made it can't be asked any more. */
  readonly key: 'sent' | 'not_sent' | 'unknown'
  readonly keySent: string | null
  readonly isLate: boolean
}

/** What all attempts of an entry prove together. */
export type WeighedAttempts = {
  readonly all: readonly WeighedAttempt[]
  /** The destination said yes. */
  readonly accepted: readonly WeighedAttempt[]
  /** May have taken effect, and nothing on record says whether. */
  readonly doubtful: readonly WeighedAttempt[]
  /** Were in doubt, and an answer under the same key or a person has ended the doubt. */
  readonly resolved: readonly WeighedAttempt[]
  /** Were in doubt, and the destination, asked, said that it had not acted. */
  readonly disproved: readonly WeighedAttempt[]
}

/** Weighs the attempts of one entry. Pure. */
export function weighAttempts(entry: EntryTimeline): WeighedAttempts {
  const all = entry.attempts.map((attempt) => weigh(attempt, entry))
  const accepted = all.filter((attempt) => attempt.outcome === 'accepted')
  const disproved = all.filter((attempt) => attempt.outcome === 'uncertain' && isDisproved(attempt, entry))
  const uncertain = all.filter((attempt) => attempt.outcome === 'uncertain' && !disproved.includes(attempt))
  const doubtful = uncertain.filter((attempt) => !isResolved(attempt, entry, accepted))
  return { all, accepted, doubtful, disproved, resolved: uncertain.filter((attempt) => !doubtful.includes(attempt)) }
}

/**
 * A late outcome is the word of the process that really made the attempt: a definite one ends the doubt that its lost
 * lease left, and an uncertain one puts into doubt what was recorded as never sent.
 */
function weigh(attempt: AttemptOnRecord, entry: EntryTimeline): WeighedAttempt {
  const late = entry.lateOutcomes.filter((outcome) => outcome.number === attempt.number)
  const said =
    late.find((outcome) => outcome.outcome === 'accepted') ??
    (attempt.outcome === 'uncertain'
      ? late.find((outcome) => outcome.outcome !== 'uncertain')
      : attempt.outcome === 'not_sent'
        ? late.find((outcome) => outcome.outcome === 'uncertain')
        : undefined)
  const winner = attempt.outcome === 'accepted' ? attempt : (said ?? attempt)
  return {
    number: attempt.number,
    openedAt: attempt.openedAt,
    endedAt: winner === attempt ? attempt.closedAt : (said?.recordedAt ?? attempt.closedAt),
    outcome: winner.outcome,
    status: winner.status,
    repeat: winner.repeat,
    cause: winner.cause,
    detail: winner.detail,
    durationMs: winner === attempt ? attempt.durationMs : null,
    key: wasKeySent(attempt),
    keySent: attempt.keySent,
    isLate: winner !== attempt,
  }
}

/** A doubtful send is retried by itself where the destination honours keys, and only there: the decision tells too. */
function wasKeySent(attempt: AttemptOnRecord): WeighedAttempt['key'] {
  if (attempt.keySent !== null || attempt.decisionReason === 'uncertain_with_key') return 'sent'
  if (attempt.decisionReason === 'no_key') return 'not_sent'
  return attempt.digestSent === null ? 'unknown' : 'not_sent'
}

/** Only a finding that was acted upon counts: one that was asked too early, or came too late, proves nothing. */
function isDisproved(attempt: WeighedAttempt, entry: EntryTimeline): boolean {
  return entry.lookups.some(
    ({ askedAt, answer }) =>
      askedAt >= attempt.endedAt && (answer?.effect === 'returned' || answer?.effect === 'dead_lettered'),
  )
}

function isResolved(attempt: WeighedAttempt, entry: EntryTimeline, accepted: readonly WeighedAttempt[]): boolean {
  // A person has answered for everything that was in doubt then.
  if (entry.acts.some((act) => act.action === 'settle' && act.actedAt >= attempt.endedAt)) return true
  if (accepted.length > 0) return accepted.some((answer) => answersFor(answer, attempt))
  if (entry.state === 'uncertain') return false
  // What only a late word put into doubt was never part of what the entry was closed or put back with.
  if (attempt.isLate) return false
  // `uncertain_since` is cleared by the answer that decides earlier attempts too, and travels with a pending entry.
  if (entry.state === 'pending') return positionDoubt(entry) === null
  return entry.uncertainSince === null
}

/** Under one key the destination acts once, so its yes to one attempt settles the others that carried the key. */
function answersFor(answer: WeighedAttempt, doubt: WeighedAttempt): boolean {
  if (answer.repeat) return true
  if (answer.key === 'not_sent' || doubt.key === 'not_sent') return false
  if (answer.key === 'unknown' && doubt.key === 'unknown') return false
  return doubt.keySent === null || answer.keySent === null || doubt.keySent === answer.keySent
}

/** More than one yes is one action only where all of them carried the same key, or all but one were called repeats. */
export function mayHaveActedTwice(weighed: WeighedAttempts): boolean {
  const { accepted, doubtful } = weighed
  if (accepted.length === 0) return false
  if (doubtful.length > 0) return true
  return accepted.some((one, index) => accepted.slice(index + 1).some((other) => !answersFor(other, one)))
}

function positionDoubt(entry: EntryTimeline): number | null {
  const { position } = entry
  return position.kind === 'due' || position.kind === 'leased' ? position.uncertainSince : entry.uncertainSince
}
