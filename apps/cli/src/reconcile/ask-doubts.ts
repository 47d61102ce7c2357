import { type ActRefusal, explainNoDoubt, findDoubts, type OpenDoubt } from '@counterfoil/db'
import { type ReconcileNowResult, reconcileNow } from '@counterfoil/worker'
import type { Act } from '../terminal/open-act.js'

export type DoubtChoice = {
  readonly entry: string | null
  readonly destination: string | null
  readonly overdueOnly: boolean
  readonly limit: number
}

export type AskedDoubt = OpenDoubt & { readonly result: ReconcileNowResult }

export type AskedDoubts =
  | {
      readonly kind: 'asked'
      readonly asked: readonly AskedDoubt[]
      /** Doubts that are still open: of those asked about, or behind the limit. */
      readonly remain: number
      readonly cut: boolean
    }
  /** The one entry that was named is in no doubt. */
  | { readonly kind: 'nothing_open'; readonly refusal: ActRefusal }

/** Has destinations asked about the chosen doubts, one after another, in the operator's name. */
export async function askDoubts({ database, config, request }: Act, choice: DoubtChoice): Promise<AskedDoubts> {
  const { doubts, next } = await findDoubts(database, choice, { limit: choice.limit, after: null })
  if (choice.entry !== null && doubts.length === 0) {
    return { kind: 'nothing_open', refusal: await explainNoDoubt(database, choice.entry) }
  }
  const asked: AskedDoubt[] = []
  for (const doubt of doubts) {
    const contract = config.destinations.get(doubt.destination)
    asked.push({ ...doubt, result: await reconcileNow(database, { entry: doubt.entry, contract }, request) })
  }
  const remain = asked.filter(({ result }) => isStillOpen(result)).length + (next === null ? 0 : 1)
  return { kind: 'asked', asked, remain, cut: next !== null }
}

/** What was moved by somebody else meanwhile is no doubt any more, or is being asked about elsewhere. */
function isStillOpen(result: ReconcileNowResult): boolean {
  switch (result.kind) {
    case 'reconciled':
      return result.effect === 'asked_again' || result.effect === 'waits_for_person'
    case 'no_lookup':
      return true
    case 'conflict':
      return result.state === 'uncertain'
    case 'not_found':
    case 'refused':
      return false
  }
}
