import { type Database, sweepLateOutcomes } from '@counterfoil/db'
import type { Service } from './service.js'

/** Late outcomes whose worker died between writing them down and applying them. */
export function createSweepLate(database: Database): Service {
  return {
    name: 'sweep-late-outcomes',
    everyMs: 30_000,
    runOnce: async () => {
      const { applied } = await sweepLateOutcomes(database, { limit: 200 })
      return { counts: { applied }, destinations: [], more: false }
    },
  }
}
