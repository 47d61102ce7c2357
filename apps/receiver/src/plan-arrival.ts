import {
  type PlannedPush,
  type PlanResult,
  type PushRequest,
  planPush,
  type SourceContract,
  type Verification,
} from '@counterfoil/core'
import type { PushDeps } from './push-deps.js'
import type { Greeted, Malformed, Misconfigured, Refused, Unjudged } from './push-end.js'

export type ArrivalPlan =
  | { readonly kind: 'planned'; readonly push: PlannedPush }
  | Refused
  | Unjudged
  | Greeted
  | Malformed
  | Misconfigured

/**
 * Is it authentic, and what is to be claimed? Verified first: nothing of an unproven push is parsed. Comes as a promise
 * only where the verifier or a handshake's consent needs one.
 * @param now epoch ms by the database clock, when the headers arrived: a slow body makes no push stale
 */
export function planArrival(
  source: SourceContract,
  request: PushRequest,
  now: number,
  deps: Pick<PushDeps, 'newId' | 'keyMaterial' | 'confirm'>,
): ArrivalPlan | Promise<ArrivalPlan> {
  const verification = source.verify(request, source.keys(), now, deps.keyMaterial)
  return verification instanceof Promise
    ? verification.then((settled) => planVerified(source, request, settled, now, deps))
    : planVerified(source, request, verification, now, deps)
}

function planVerified(
  source: SourceContract,
  request: PushRequest,
  verification: Verification,
  now: number,
  deps: Pick<PushDeps, 'newId' | 'confirm'>,
): ArrivalPlan | Promise<ArrivalPlan> {
  if (verification.kind === 'refused') {
    return { kind: 'refused', source, keyId: null, cause: verification.cause, hint: verification.hint }
  }
  if (verification.kind === 'unavailable') {
    return { kind: 'unjudged', source, cause: verification.cause, hint: verification.hint }
  }
  const { keyId } = verification
  const plan = planPush(source, request, verification, now, deps.newId)
  return plan.kind === 'handshake' ? greet(source, keyId, plan.answer, deps) : toEnd(source, keyId, plan)
}

function toEnd(source: SourceContract, keyId: string, plan: Exclude<PlanResult, { kind: 'handshake' }>): ArrivalPlan {
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

function greet(
  source: SourceContract,
  keyId: string,
  answer: Greeted['answer'],
  deps: Pick<PushDeps, 'confirm'>,
): Greeted | Promise<Greeted> {
  const greeted: Greeted = { kind: 'greeted', source, keyId, answer, unconfirmed: null }
  if (answer.confirm === undefined) return greeted
  return deps.confirm(answer.confirm.url).then((unconfirmed) => ({ ...greeted, unconfirmed }))
}
