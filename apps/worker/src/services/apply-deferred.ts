import { planStoredDelivery, type SourceContract } from '@counterfoil/core'
import { applyDeferred, type Database, type PlanAgain } from '@counterfoil/db'
import type { Service } from './service.js'

const PAGE = 100

/** Deliveries that came before their time and were kept: decided when the database clock says so. */
export function createApplyDeferred(
  database: Database,
  sources: ReadonlyMap<string, SourceContract>,
  newId: () => string,
): Service {
  const plan: PlanAgain = (delivery) => {
    const source = sources.get(delivery.source)
    if (source === undefined) return null
    const planned = planStoredDelivery(source, delivery, newId)
    return planned.kind === 'planned' && planned.disposition.kind === 'act' ? planned.disposition.transition : null
  }
  return {
    name: 'apply-deferred',
    everyMs: 1_000,
    runOnce: async () => {
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
