import { type PlannedPush, type PushRequest, planPush, type SourceContract } from '@counterfoil/core'
import type { Malformed, Misconfigured, Refused } from './push-end.js'

export type ArrivalPlan = { readonly kind: 'planned'; readonly push: PlannedPush } | Refused | Malformed | Misconfigured

/**
 * Is it authentic, and what is to be claimed? Verified first: nothing of an unproven push is parsed.
 * @param now epoch ms by the database clock, when the headers arrived: a slow body makes no push stale
 */
export function planArrival(
  source: SourceContract,
  request: PushRequest,
  now: number,
  newId: () => string,
): ArrivalPlan {
  const verification = source.verify(request, source.keys(), now)
  if (verification.kind === 'refused') {
    return { kind: 'refused', source, keyId: null, cause: verification.cause, hint: verification.hint }
  }
  const { keyId } = verification
  const plan = planPush(source, request, verification, now, newId)
  switch (plan.kind) {
    case 'planned':
      return plan
    case 'stale':
      return { kind: 'refused', source, keyId, cause: plan.cause, hint: plan.hint }
    case 'malformed':
      return { kind: 'malformed', source, keyId, cause: plan.cause, hint: plan.hint }
    case 'misconfigured':
      return { kind: 'misconfigured', source, keyId, hint: plan.hint }
  }
}
