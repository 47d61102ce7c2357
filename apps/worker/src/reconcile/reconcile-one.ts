import { decideFinding, type Found } from '@counterfoil/core'
import { type AskedLookup, type Database, type RecordedFinding, recordFinding } from '@counterfoil/db'
import type { AskableContract } from './open-lookups.js'

export type ReconcileDeps = {
  readonly database: Database
  readonly contract: AskableContract
  readonly ask: (asked: AskedLookup) => Promise<Found>
  readonly random: () => number
}

export type Reconciled = RecordedFinding & { readonly found: Found }

/**
 * The whole story of one question: ask → judge → decide → record. That it is being asked is on record already, and the
 * entry moves only if nobody else has moved it meanwhile (I6).
 */
export async function reconcileOne(asked: AskedLookup, deps: ReconcileDeps): Promise<Reconciled> {
  const { contract, database, random } = deps
  const found = await deps.ask(asked)
  const reconcile = { ...contract, lookup: contract.lookup, reviewWindowMs: contract.reviewWindowMs ?? null }
  const recorded = await recordFinding(database, {
    asked,
    found,
    decide: (situation) => decideFinding(found, situation, reconcile, random),
  })
  return { ...recorded, found }
}

/** One wide line per question. Never the request, the answer, a header or a secret (I10). */
export function findingLine(asked: AskedLookup, { found, effect, cause }: Reconciled): Record<string, unknown> {
  return {
    destination: asked.destination,
    entry: asked.entry,
    delivery: asked.delivery,
    question: asked.number,
    finding: found.finding,
    status: found.status,
    cause,
    effect,
    durationMs: found.durationMs,
  }
}
