import type { DestinationContract } from '@counterfoil/core'
import { type ActRefusal, type ActRequest, askNow, type Database } from '@counterfoil/db'
import { isAskable, lookupLeaseMs, openLookups } from './open-lookups.js'
import { type Reconciled, reconcileOne } from './reconcile-one.js'

export type ReconcileNowResult =
  | ({ readonly kind: 'reconciled'; readonly act: string; readonly question: number } & Reconciled)
  /** Its destination can't be asked: a person has to find out. */
  | { readonly kind: 'no_lookup' }
  | ActRefusal

/** Has the destination asked about one entry now, in the name of a person: for the command line. */
export async function reconcileNow(
  database: Database,
  doubt: { readonly entry: string; readonly contract: DestinationContract | undefined },
  request: ActRequest,
): Promise<ReconcileNowResult> {
  const { contract } = doubt
  if (!isAskable(contract)) return { kind: 'no_lookup' }
  const result = await askNow(database, doubt.entry, { ...request, leaseMs: lookupLeaseMs(contract) })
  if (result.kind !== 'asked') return result
  const lookups = openLookups(contract)
  try {
    const done = await reconcileOne(result.asked, { database, contract, ask: lookups.ask, random: Math.random })
    return { kind: 'reconciled', act: result.act, question: result.asked.number, ...done }
  } finally {
    await lookups.close()
  }
}
