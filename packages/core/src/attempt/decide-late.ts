import type { EntryState } from '../outbox/entry.js'
import type { LateDecision } from './decision.js'
import type { AttemptOutcome } from './outcome.js'

/** Where the entry of a late outcome stands, read under its lock. Nobody holds its lease. */
export type LateSituation = {
  readonly state: EntryState
  /** Is any *other* attempt of the entry in doubt, with no definite answer of its own? */
  readonly othersInDoubt: boolean
  /** Was another attempt definitely rejected? Without doubt, that rejection is what counts. */
  readonly rejected: boolean
}

/**
 * What a late outcome does to an entry that nobody holds: to an uncertain or pending one it is the definite answer of
 * its attempt. Final states stay (delivered never leaves; a person's settlement is not overruled): there it is evidence.
 */
export function decideLate(
  outcome: Pick<AttemptOutcome, 'kind'> & { repeat?: boolean },
  situation: LateSituation,
): LateDecision {
  if (situation.state !== 'uncertain' && situation.state !== 'pending') return { kind: 'keep' }
  switch (outcome.kind) {
    case 'accepted':
      // Under the same key: whichever attempt did it, the effect is there.
      return { kind: 'finish', as: 'delivered', repeat: outcome.repeat ?? false }
    case 'uncertain':
      return { kind: 'keep' }
    case 'rejected':
      return situation.othersInDoubt ? { kind: 'keep' } : { kind: 'dead_letter', because: 'rejected' }
    case 'unauthorised':
    case 'deferred':
    case 'not_sent':
      if (situation.othersInDoubt) return { kind: 'keep' }
      return situation.rejected ? { kind: 'dead_letter', because: 'rejected' } : { kind: 'clear_doubt' }
  }
}
