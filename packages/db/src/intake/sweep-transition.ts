import type { ConditionalUpdate } from '@counterfoil/core'
import type { Database } from '../connection/database.js'
import type { SweepResult } from './intake-options.js'

/** Applies a conditional update to rows that no push came for; one bounded batch (`sweep.batch`) in one call. */
export function sweepTransition(
  _database: Database,
  _transition: ConditionalUpdate,
  _options: { readonly instance: string },
): Promise<SweepResult> {
  return Promise.reject(new Error('sweepTransition is being built'))
}
