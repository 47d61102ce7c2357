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

/**
 * Field by field: spreading the parts took 5 of the 100 µs that a worker spends on an attempt, its send included.
 */
export function closeRow({
  leased,
  outcome,
  decision,
  detail,
  durationMs,
  keySent,
  digestSent,
}: AttemptClose): CloseRow {
  const known = outcomeColumns(outcome, detail)
  const next = nextOf(decision)
  return {
    entry: leased.id,
    token: leased.lease.token,
    attempt: leased.lease.attempt,
    destination: leased.destination,
    outcome: known.outcome,
    status: known.status,
    repeat: known.repeat,
    cause: known.cause,
    detail: known.detail,
    duration_ms: durationMs === null ? null : Math.round(durationMs),
    key_sent: keySent,
    digest_sent: digestSent,
    decision: decision.kind,
    decision_reason: reasonOf(decision),
    spends: spendsTry(outcome, decision),
    takes_back: takesBack(outcome),
    in_doubt: outcome.kind === 'uncertain',
    final_state: next.final_state,
    due_in_ms: next.due_in_ms,
    pause_reason: next.pause_reason,
    pause_ms: next.pause_ms,
  }
}

/** What an outcome and its decision change, for a close by the owner and for one by a rescuer. */
export function decisionColumns(outcome: AttemptOutcome, decision: Decision) {
  return {
    decision: decision.kind,
    decision_reason: reasonOf(decision),
    spends: spendsTry(outcome, decision),
    takes_back: takesBack(outcome),
    in_doubt: outcome.kind === 'uncertain',
    ...nextOf(decision),
  }
}

function reasonOf(decision: Decision): string | null {
  return 'because' in decision ? decision.because : null
}

/** With a status bytes did leave, so the key's window stays as it is: it can only close too early. */
function takesBack(outcome: AttemptOutcome): boolean {
  return outcome.kind === 'not_sent' && outcome.status === undefined
}

function spendsTry(outcome: AttemptOutcome, decision: Decision): boolean {
  if (decision.kind === 'pause') return false
  return decision.kind === 'retry' ? decision.spendsBudget : outcome.kind !== 'deferred'
}

const DELIVERED: Next = { final_state: 'delivered', due_in_ms: null, pause_reason: null, pause_ms: null }

function stoppedBy(decision: Extract<Decision, { kind: 'hold' | 'dead_letter' }>): PausedReason | null {
  return decision.stopsDestination ?? null
}

function nextOf(decision: Decision): Next {
  switch (decision.kind) {
    case 'finish':
      return DELIVERED
    case 'hold':
      return { final_state: 'uncertain', due_in_ms: null, pause_reason: stoppedBy(decision), pause_ms: null }
    case 'dead_letter':
      return { final_state: 'dead_lettered', due_in_ms: null, pause_reason: stoppedBy(decision), pause_ms: null }
    case 'retry':
      return { final_state: null, due_in_ms: decision.dueInMs, pause_reason: null, pause_ms: null }
    case 'pause':
      return {
        final_state: null,
        due_in_ms: decision.dueInMs,
        pause_reason: decision.because,
        pause_ms: decision.pauseMs,
      }
  }
}
