import type { AttemptOutcome, Decision } from '@counterfoil/core'
import type { AttemptClose, PausedReason } from './outbox-types.js'
import { type OutcomeColumns, outcomeColumns } from './outcome-columns.js'

/** One close as the statements read it; a key is a column of `CLOSE_INPUT`. */
export type CloseRow = OutcomeColumns & {
  readonly entry: string
  readonly token: string
  readonly attempt: number
  readonly destination: string
  readonly duration_ms: number | null
  readonly key_sent: string | null
  readonly digest_sent: Buffer | null
  readonly decision: Decision['kind'] | 'hand_back'
  readonly decision_reason: string | null
  readonly spends: boolean
  /** Provably nothing left: a first-sent time set by this very lease is taken back. */
  readonly takes_back: boolean
  /** This attempt is itself in doubt. */
  readonly in_doubt: boolean
} & Next

/** Exactly one of `final_state` and `due_in_ms` is set: an entry ends, or is due again (I12). */
type Next = {
  readonly final_state: 'delivered' | 'uncertain' | 'dead_lettered' | null
  readonly due_in_ms: number | null
  readonly pause_reason: PausedReason | null
  /** `null` with a reason: until resumed. */
  readonly pause_ms: number | null
}

export function closeRow(close: AttemptClose): CloseRow {
  const { leased, outcome, decision } = close
  return {
    ...outcomeColumns(outcome, close.detail),
    entry: leased.id,
    token: leased.lease.token,
    attempt: leased.lease.attempt,
    destination: leased.destination,
    duration_ms: close.durationMs === null ? null : Math.round(close.durationMs),
    key_sent: close.keySent,
    digest_sent: close.digestSent,
    ...decisionColumns(outcome, decision),
  }
}

/** What an outcome and its decision change, for a close by the owner and for one by a rescuer. */
export function decisionColumns(outcome: AttemptOutcome, decision: Decision) {
  return {
    decision: decision.kind,
    decision_reason: 'because' in decision ? decision.because : null,
    spends: spendsTry(outcome, decision),
    // With a status bytes did leave, so the key's window stays as it is: it can only close too early.
    takes_back: outcome.kind === 'not_sent' && outcome.status === undefined,
    in_doubt: outcome.kind === 'uncertain',
    ...nextOf(decision),
  }
}

function spendsTry(outcome: AttemptOutcome, decision: Decision): boolean {
  if (decision.kind === 'pause') return false
  return decision.kind === 'retry' ? decision.spendsBudget : outcome.kind !== 'deferred'
}

function nextOf(decision: Decision): Next {
  const stops = { pause_reason: 'stopsDestination' in decision ? decision.stopsDestination : null, pause_ms: null }
  switch (decision.kind) {
    case 'finish':
      return { final_state: 'delivered', due_in_ms: null, ...stops }
    case 'hold':
      return { final_state: 'uncertain', due_in_ms: null, ...stops }
    case 'dead_letter':
      return { final_state: 'dead_lettered', due_in_ms: null, ...stops }
    case 'retry':
      return { final_state: null, due_in_ms: decision.dueInMs, ...stops }
    case 'pause':
      return {
        final_state: null,
        due_in_ms: decision.dueInMs,
        pause_reason: decision.because,
        pause_ms: decision.pauseMs,
      }
  }
}
