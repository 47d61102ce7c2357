import { type DestinationContract, decide, workerLost } from '@counterfoil/core'
import { type Database, type ExpiredLease, expireLeases } from '@counterfoil/db'
import type { Service } from './service.js'

const PAGE = 200
/** A lease is left to its owner this long after its end. No byte may leave for long before that, so only a close can be on its way. */
const GRACE_MS = 2_000

/** Entries whose worker vanished: their attempt is closed as uncertain (worker lost), and the contract says what is next. */
export function createExpireLeases(
  database: Database,
  destinations: ReadonlyMap<string, DestinationContract>,
  random: () => number,
): Service {
  const judge = (expired: ExpiredLease) => {
    const contract = destinations.get(expired.destination)
    // A destination that this worker doesn't know: nobody may send again on its behalf, so the doubt is held.
    if (contract === undefined) return { kind: 'hold', as: 'uncertain', because: 'no_key' } as const
    return decide(workerLost(), expired.history, contract, expired.now, random)
  }
  return {
    name: 'expire-leases',
    everyMs: 1_000,
    runOnce: async () => {
      const { expired, destinations: due } = await expireLeases(database, {
        limit: PAGE,
        graceMs: GRACE_MS,
        decide: judge,
      })
      return { counts: { expired }, destinations: due, more: expired >= PAGE }
    },
  }
}
