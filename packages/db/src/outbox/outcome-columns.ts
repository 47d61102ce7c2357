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
  const base = { outcome: outcome.kind, repeat: false, cause: null, detail: cleanText(detail) }
  switch (outcome.kind) {
    case 'accepted':
      return { ...base, status: outcome.status, repeat: outcome.repeat }
    case 'rejected':
      return { ...base, status: outcome.status, cause: outcome.reason }
    case 'unauthorised':
    case 'deferred':
      return { ...base, status: outcome.status }
    case 'not_sent':
      return { ...base, status: outcome.status ?? null, cause: outcome.cause, detail: join(outcome.code, detail) }
    case 'uncertain':
      return { ...base, status: outcome.status, cause: outcome.phase, detail: join(outcome.cause, detail) }
  }
}

function join(code: string | null, detail: string | null): string | null {
  if (code !== null && detail?.startsWith(code)) return cleanText(detail)
  return cleanText([code, detail].filter((part) => part !== null && part !== '').join(': '))
}
