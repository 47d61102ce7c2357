import { judgeDelivery, type VerdictKind } from '@counterfoil/core'
import { type Database, type DeliveryFilter, findDeliveries, readTimelines, type Standing } from '@counterfoil/db'
import type { DeliveryAnswer } from './answer-query.js'

export type Listed = Omit<DeliveryAnswer, 'kind' | 'matchedBy'>
export type Listing = { readonly found: readonly Listed[]; readonly next: string | null }

/** What each verdict class can be recognised by before its timeline is read. */
const STANDING_OF: Readonly<Record<VerdictKind, Standing | null>> = {
  unknown: 'in_doubt',
  possibly_delivered_more_than_once: 'delivered_after_doubt',
  not_delivered_yet: 'pending',
  not_delivered: 'not_delivered',
  delivered_repeat_ignored: 'repeated',
  delivered_once: null,
  quarantined: 'quarantined',
  waiting: 'deferred',
  never_queued: null,
  no_record: null,
  nothing_to_do: null,
  ignored: null,
  done: null,
}

/** How long one call looks, ms: enough for a million deliveries (measured: 1 to 5 s). A rarer match needs another call. */
const LONGEST_LOOK_MS = 10_000

/** Lists deliveries, newest first; with `verdict`, those that have an action with that verdict or carry it themselves. */
export async function listDeliveries(
  database: Database,
  filter: Omit<DeliveryFilter, 'standing'>,
  options: { readonly verdict: VerdictKind | null; readonly limit: number; readonly after: string | null },
): Promise<Listing> {
  const standing = options.verdict === null ? null : STANDING_OF[options.verdict]
  const found: Listed[] = []
  let after = options.after
  const stopAt = performance.now() + LONGEST_LOOK_MS
  while (performance.now() < stopAt) {
    const { deliveries, next } = await findDeliveries(
      database,
      { ...filter, standing },
      { limit: Math.min(options.limit, 100), after },
    )
    for (const timeline of await readTimelines(database, deliveries)) {
      const verdict = judgeDelivery(timeline)
      if (!matches(verdict, options.verdict)) continue
      found.push({ timeline, verdict })
      if (found.length === options.limit) return { found, next: cursorAfter(deliveries, timeline.delivery.id, next) }
    }
    if (next === null) return { found, next: null }
    after = next
  }
  return { found, next: after }
}

function matches(verdict: Listed['verdict'], wanted: VerdictKind | null): boolean {
  if (wanted === null || verdict.headline.kind === wanted) return true
  return verdict.entries.some((entry) => entry.verdict.kind === wanted)
}

/** The cursor after this delivery; `null` when it was the very last. */
function cursorAfter(page: readonly string[], id: string, next: string | null): string | null {
  return page.at(-1) === id ? next : id
}
