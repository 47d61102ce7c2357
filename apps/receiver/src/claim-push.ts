import type { ClaimResult, IntakeStore, PlannedPush } from '@counterfoil/core'
import type { Logger } from 'pino'
import { describeError } from './describe-error.js'

/**
 * Hands the push to the store and waits for its verdict, at most until `deadlineAt` (`performance.now()` ms).
 * A store that throws has a bug: nothing is known, so the sender keeps the push.
 */
export async function claimPush(
  push: PlannedPush,
  deadlineAt: number,
  deps: { readonly store: Pick<IntakeStore, 'claim'>; readonly log: Logger },
): Promise<ClaimResult> {
  try {
    return await deps.store.claim(push, { deadlineAt })
  } catch (error) {
    deps.log.error(describeError(error), 'push.claim_threw')
    return { kind: 'in_doubt', cause: 'connection' }
  }
}
