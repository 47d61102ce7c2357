import type { VerdictKind } from '@counterfoil/core'

const FINDINGS: readonly VerdictKind[] = [
  'unknown',
  'possibly_delivered_more_than_once',
  'not_delivered',
  'never_queued',
  'quarantined',
]

/** Does this need a person? */
export function isFinding(kind: VerdictKind): boolean {
  return FINDINGS.includes(kind)
}
