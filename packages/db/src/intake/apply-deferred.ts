import type { Database } from '../connection/database.js'
import type { DeferredResult, PlanAgain } from './intake-options.js'

/** Decides deliveries whose time has come, by the same judge as a push; at most `limit` of them in one call. */
export function applyDeferred(
  _database: Database,
  _options: { readonly limit: number; readonly plan: PlanAgain },
): Promise<DeferredResult> {
  return Promise.reject(new Error('applyDeferred is being built'))
}
