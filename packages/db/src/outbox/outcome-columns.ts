import type { AttemptOutcome } from '@counterfoil/core'
import { cleanText } from './clean-text.js'

/** An outcome as the columns of `attempt` and `late_outcome` hold it. */
export type OutcomeColumns = {
  readonly outcome: AttemptOutcome['kind']
  readonly status: number | null
  readonly repeat: boolean
  /** Phase of an uncertain one, reason of a rejected one, cause of one that was not sent. */
  readonly cause: string | null
  readonly detail: string | null
}

export function outcomeColumns(outcome: AttemptOutcome, detail: string | null): OutcomeColumns {
  const kind = outcome.kind
  switch (kind) {
    case 'accepted':
      return columns(kind, outcome.status, outcome.repeat, null, cleanText(detail))
    case 'rejected':
      return columns(kind, outcome.status, false, outcome.reason, cleanText(detail))
    case 'unauthorised':
    case 'deferred':
      return columns(kind, outcome.status, false, null, cleanText(detail))
    case 'not_sent':
      return columns(kind, outcome.status ?? null, false, outcome.cause, join(outcome.code, detail))
    case 'uncertain':
      return columns(kind, outcome.status, false, outcome.phase, join(outcome.cause, detail))
  }
}

function columns(
  outcome: OutcomeColumns['outcome'],
  status: number | null,
  repeat: boolean,
  cause: string | null,
  detail: string | null,
): OutcomeColumns {
  return { outcome, status, repeat, cause, detail }
}

function join(code: string | null, detail: string | null): string | null {
  if (code !== null && detail?.startsWith(code)) return cleanText(detail)
  return cleanText([code, detail].filter((part) => part !== null && part !== '').join(': '))
}
