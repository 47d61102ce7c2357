import type { NotDuePolicy, SubjectRow, TransitionOutcome } from './transition.js'

/** What the database said about one row after its lock was taken. Comparisons with the clock are the database's own. */
export type RowFacts = {
  /** The id as the database writes it. Keys are made of this one, so that push and sweep make the same. */
  readonly subject: string
  readonly state: string | null
  /** The row's deadline cut to milliseconds, as event times have no more; `null`: it has none, or never. */
  readonly dueMs: number | null
  /** `deadline <= clock_timestamp()`, exact to the microsecond. */
  readonly isDue: boolean
  /** Until the deadline, rounded up, milliseconds; 0 when due. */
  readonly remainingMs: number
  readonly row: SubjectRow
}

export type Judgement =
  | { readonly outcome: 'applied'; readonly facts: RowFacts }
  | { readonly outcome: 'no_longer_held' | 'superseded'; readonly facts: RowFacts }
  | { readonly outcome: 'not_due'; readonly facts: RowFacts; readonly remainingMs: number }
  | { readonly outcome: 'not_found' }

/**
 * Decides one conditional update by the row's own state and the database clock (I8).
 * Paid stays paid, so the state comes first. A row whose deadline is later than the event's was extended: the event
 * speaks of a hold that no longer is. A row without a deadline can't expire at all and counts as extended for good.
 */
export function judgeConditionalUpdate(facts: RowFacts | null, from: string, guardMs: number | null): Judgement {
  if (facts === null) return { outcome: 'not_found' }
  if (facts.state !== from) return { outcome: 'no_longer_held', facts }
  if (facts.dueMs === null) return { outcome: 'superseded', facts }
  if (guardMs !== null && facts.dueMs > guardMs) return { outcome: 'superseded', facts }
  if (!facts.isDue) return { outcome: 'not_due', facts, remainingMs: Math.max(1, facts.remainingMs) }
  return { outcome: 'applied', facts }
}

/** One question about a row: `key` finds its facts, `guardMs` is the event's own deadline. */
export type Question = { readonly key: string; readonly guardMs: number | null }

/** Decides several questions in arrival order: what one applied, the next one finds no longer held. */
export function judgeInOrder(
  questions: readonly Question[],
  rows: ReadonlyMap<string, RowFacts>,
  change: { readonly from: string; readonly to: string },
): readonly Judgement[] {
  const applied = new Set<string>()
  return questions.map((question) => {
    const facts = rows.get(question.key) ?? null
    const now = facts !== null && applied.has(facts.subject) ? { ...facts, state: change.to } : facts
    const judgement = judgeConditionalUpdate(now, change.from, question.guardMs)
    if (judgement.outcome === 'applied') applied.add(judgement.facts.subject)
    return judgement
  })
}

/** What becomes of the delivery itself. */
export type Handling =
  /** Claimed with this outcome; the matter is settled. */
  | { readonly kind: 'claim'; readonly outcome: TransitionOutcome }
  /** Claimed, and asked again when its time has come. */
  | { readonly kind: 'defer'; readonly remainingMs: number }
  /** Not claimed: a claim would absorb the redelivery that is asked for. */
  | { readonly kind: 'refuse'; readonly remainingMs: number }

export function handleJudgement(
  judgement: { readonly outcome: TransitionOutcome; readonly remainingMs?: number },
  policy: NotDuePolicy,
): Handling {
  if (judgement.outcome !== 'not_due' || policy === 'discard') return { kind: 'claim', outcome: judgement.outcome }
  const remainingMs = Math.max(1, judgement.remainingMs ?? 1)
  return policy === 'defer' ? { kind: 'defer', remainingMs } : { kind: 'refuse', remainingMs }
}
