import { planStoredTransition, type SourceContract } from '@counterfoil/core'
import { applyDeferred, type Database } from '@counterfoil/db'
import type { Service } from './service.js'

const PAGE = 100

/** Deliveries that came before their time and were kept: decided when the database clock says so. */
export function createApplyDeferred(
  database: Database,
  sources: ReadonlyMap<string, SourceContract>,
  newId: () => string,
): Service {
  return {
    name: 'apply-deferred',
    everyMs: 1_000,
    runOnce: async () => {
      const plan = (delivery: Parameters<typeof planStoredTransition>[1]) =>
        planStoredTransition(sources, delivery, newId)
      const result = await applyDeferred(database, { limit: PAGE, plan })
      const decided = Object.values(result.decided).reduce((sum, count) => sum + count, 0)
      const { applied, postponed, skipped, failed } = result
      return {
        counts: { decided, applied, postponed, skipped, failed },
        destinations: result.destinations,
        more: decided + postponed >= PAGE,
      }
    },
  }
}
