import type { DestinationContract } from '@counterfoil/core'
import { type ConfigProblem, demand } from './problem.js'

/**
 * Every destination can leave a doubt: without a key any lost answer does, with one those that outlast its window or
 * the budget do. How long one may stay open is a promise to customers, so nobody but the owner can name it.
 *
 * It is demanded by `config check`, and no process refuses to start without it: an upgrade must not turn pushes away.
 * Until it is named, each doubt is overdue from the start, which errs on the visible side.
 */
export function checkReviewWindow(path: string, contract: DestinationContract): readonly ConfigProblem[] {
  if (contract.reviewWindowMs !== undefined) return []
  const doubts =
    contract.idempotency.kind === 'none'
      ? 'has no key, so a lost answer leaves a doubt'
      : 'can leave a doubt when its key no longer protects a repeat'
  return [
    demand(
      `${path}.reviewWindow`,
      `is missing: this destination ${doubts}. Say how long one may stay open before a person has to look, such as '4h'`,
    ),
  ]
}
