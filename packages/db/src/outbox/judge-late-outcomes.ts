import type { AttemptOutcome } from '@counterfoil/core'

/** An outcome on record: of a closed attempt, or one that came after its lease was lost. */
export type RecordedOutcome = {
  readonly number: number
  readonly outcome: AttemptOutcome['kind']
  readonly repeat: boolean
  readonly late: boolean
}

export type JudgedLate = {
  /** The strongest of what came late: a yes before a no before "nothing was done". */
  readonly outcome: { readonly kind: AttemptOutcome['kind']; readonly repeat: boolean }
  readonly situation: { readonly othersInDoubt: boolean; readonly rejected: boolean }
}

const STRENGTH: Record<AttemptOutcome['kind'], number> = {
  accepted: 5,
  rejected: 4,
  unauthorised: 3,
  deferred: 3,
  not_sent: 3,
  uncertain: 0,
}

/**
 * All late outcomes of an entry taken together: each is the answer to the attempt of its number, whose own record says
 * uncertain. `null` when none of them is a definite answer.
 */
export function judgeLateOutcomes(outcomes: readonly RecordedOutcome[]): JudgedLate | null {
  const late = outcomes.filter((row) => row.late && row.outcome !== 'uncertain')
  const [strongest] = [...late].sort((a, b) => STRENGTH[b.outcome] - STRENGTH[a.outcome])
  if (strongest === undefined) return null
  const answered = new Set(late.map((row) => row.number))
  return {
    outcome: { kind: strongest.outcome, repeat: strongest.repeat },
    situation: {
      othersInDoubt: outcomes.some((row) => row.outcome === 'uncertain' && !answered.has(row.number)),
      rejected: outcomes.some((row) => row.outcome === 'rejected'),
    },
  }
}
