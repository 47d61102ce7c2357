import { compareListing, type ListedDelivery } from '@counterfoil/core'
import { type ClaimOfSource, type Database, listClaims, readPresence } from '@counterfoil/db'

export type SourceComparison = {
  readonly listed: number
  readonly agreed: number
  readonly missing: Sample<ListedDelivery>
  readonly neverClaimed: Sample<ListedDelivery>
  readonly failedThere: Sample<ListedDelivery>
  /** Claimed here in the time that the list covers, and not on it; `null`: it names no times, and none were given. */
  readonly notListed: Sample<ClaimOfSource> | null
}

/** The count is exact; the items may be fewer. */
export type Sample<T> = { readonly count: number; readonly items: readonly T[] }

export type Window = { readonly since: number | null; readonly until: number | null }

const BATCH = 1_000
const MOST_SHOWN = 1_000

/** Compares a sender's list with what is here, batch by batch against the index of claims. Changes nothing. */
export async function compareSource(
  database: Database,
  source: string,
  listed: ReadonlyMap<string, ListedDelivery>,
  window: Window,
): Promise<SourceComparison> {
  const all = [...listed.values()]
  const [missing, neverClaimed, failedThere] = [
    collect<ListedDelivery>(),
    collect<ListedDelivery>(),
    collect<ListedDelivery>(),
  ]
  let agreed = 0
  for (let from = 0; from < all.length; from += BATCH) {
    const batch = all.slice(from, from + BATCH)
    const here = await readPresence(
      database,
      source,
      batch.map(({ id }) => id),
    )
    const difference = compareListing(batch, here)
    missing.add(difference.missing)
    neverClaimed.add(difference.neverClaimed)
    failedThere.add(difference.failedThere)
    agreed += difference.agreed
  }
  return {
    listed: all.length,
    agreed,
    missing: missing.sample(),
    neverClaimed: neverClaimed.sample(),
    failedThere: failedThere.sample(),
    notListed: await findNotListed(database, source, listed, coveredBy(all, window)),
  }
}

/** What was given, else from the first to the last time on the list. */
function coveredBy(all: readonly ListedDelivery[], { since, until }: Window) {
  let [first, last]: [number | null, number | null] = [null, null]
  for (const { at } of all) {
    if (at === null) continue
    first = first === null ? at : Math.min(first, at)
    last = last === null ? at : Math.max(last, at)
  }
  const [from, to] = [since ?? first, until ?? last]
  return from === null || to === null ? null : { since: from, until: to }
}

async function findNotListed(
  database: Database,
  source: string,
  listed: ReadonlyMap<string, ListedDelivery>,
  window: { readonly since: number; readonly until: number } | null,
): Promise<Sample<ClaimOfSource> | null> {
  if (window === null) return null
  const found = collect<ClaimOfSource>()
  let after: string | null = null
  do {
    const page: Awaited<ReturnType<typeof listClaims>> = await listClaims(database, { source, ...window }, after)
    found.add(page.claims.filter(({ deliveryId }) => !listed.has(deliveryId)))
    after = page.next
  } while (after !== null)
  return found.sample()
}

function collect<T>() {
  let count = 0
  const items: T[] = []
  return {
    add: (more: readonly T[]): void => {
      count += more.length
      items.push(...more.slice(0, MOST_SHOWN - items.length))
    },
    sample: (): Sample<T> => ({ count, items }),
  }
}
