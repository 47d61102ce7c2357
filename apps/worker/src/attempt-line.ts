import type { AttemptOutcome, Decision, LeasedEntry, Sent } from '@counterfoil/core'
import type { CloseResult } from '@counterfoil/db'

/** One wide line per attempt: who, what came of it, what happens next. Never a payload, a header or a secret (I10). */
export function attemptLine(
  leased: LeasedEntry,
  sent: Sent | null,
  outcome: AttemptOutcome,
  decision: Decision,
  closed: CloseResult,
): Record<string, unknown> {
  return {
    destination: leased.destination,
    entry: leased.id,
    delivery: leased.deliveryUuid,
    idempotencyKey: leased.idempotencyKey,
    attempt: leased.lease.attempt,
    outcome: outcome.kind,
    status: 'status' in outcome ? outcome.status : undefined,
    repeat: outcome.kind === 'accepted' ? outcome.repeat : undefined,
    phase: outcome.kind === 'uncertain' ? outcome.phase : undefined,
    cause: causeOf(outcome),
    code: sent?.kind === 'failed' ? sent.code : undefined,
    decision: decision.kind,
    because: 'because' in decision ? decision.because : undefined,
    dueInMs: 'dueInMs' in decision ? decision.dueInMs : undefined,
    pauseMs: decision.kind === 'pause' ? decision.pauseMs : undefined,
    durationMs: sent?.durationMs,
    closed: closed.kind,
  }
}

function causeOf(outcome: AttemptOutcome): string | undefined {
  switch (outcome.kind) {
    case 'not_sent':
    case 'uncertain':
      return outcome.cause
    case 'rejected':
      return outcome.reason
    default:
      return undefined
  }
}
