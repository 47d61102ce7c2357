import type { ArrivalTimeline, DeliveryTimeline } from '@counterfoil/core'
import type pg from 'pg'
import type { Database } from '../connection/database.js'
import { readActs, readTransitions } from './read-acts.js'
import { readArrivals } from './read-arrivals.js'
import { readAttempts } from './read-attempts.js'
import { readClaims } from './read-claims.js'
import { MAX_ENTRIES, readEntries } from './read-entries.js'
import { type DeliveryName, readRefusals } from './read-refusals.js'
import { groupBy, readSnapshot, toMs } from './read-snapshot.js'

/** Everything on record about one delivery, by our id of it; `null` when there is none. One snapshot. */
export async function readTimeline(database: Database, deliveryUuid: string): Promise<DeliveryTimeline | null> {
  return (await readTimelines(database, [deliveryUuid]))[0] ?? null
}

/** The same for a page of deliveries, in the order asked for: as many statements as for one. Unknown ids are left out. */
export function readTimelines(
  database: Database,
  deliveryUuids: readonly string[],
): Promise<readonly DeliveryTimeline[]> {
  return readSnapshot(database, (client) => readAll(client, deliveryUuids))
}

async function readAll(client: pg.PoolClient, ids: readonly string[]): Promise<readonly DeliveryTimeline[]> {
  const claims = await readClaims(client, ids)
  const known = ids.filter((id) => claims.has(id))
  const arrivals = await readArrivals(client, known)
  const refusals = await readRefusals(
    client,
    [...claims.values()].map((claim) => claim.delivery),
  )
  const transitions = await readTransitions(client, known)
  const entries = await readEntries(client, known)
  const entryIds = entries.map(({ entry }) => entry.id)
  const attempts = await readAttempts(client, entryIds)
  const acts = await readActs(client, known, entryIds)
  const entriesBy = groupBy(entries, ({ forDelivery }) => forDelivery)

  return known.flatMap((id): DeliveryTimeline[] => {
    const claim = claims.get(id)
    if (claim === undefined) return []
    const arrived = arrivals.get(id)
    const refused = refusals(claim.delivery)
    const own = entriesBy.get(id) ?? []
    return [
      {
        ...claim,
        counts: { observed: 0, duplicates: 0, conflicts: 0, ...arrived?.counts, refused: refused.refused },
        observations: arrived?.observations ?? [],
        acks: arrived?.acks ?? [],
        refusals: refused.refusals,
        unclaimed: refused.unclaimed,
        transitions: transitions(id),
        entries: own.map(({ entry }) => ({ ...entry, ...attempts(entry.id), acts: acts.ofEntry(entry.id) })),
        acts: acts.ofDelivery(id),
        cut:
          arrived?.cut === true ||
          refused.refused > refused.refusals.length ||
          refused.unclaimedCount > refused.unclaimed.length ||
          own.length >= MAX_ENTRIES,
      },
    ]
  })
}

/** Arrivals of an id that was never claimed; `null` when it was claimed, or never arrived. */
export function readArrivalTimeline(database: Database, name: DeliveryName): Promise<ArrivalTimeline | null> {
  return readSnapshot(database, async (client) => {
    const { rows } = await client.query<{ claimed: boolean; read_at: Date }>(
      `SELECT EXISTS (SELECT FROM counterfoil.delivery WHERE delivery_id = $1 AND source = $2) AS claimed,
              clock_timestamp() AS read_at`,
      [name.deliveryId, name.source],
    )
    const head = rows[0]
    const { refused, refusals, unclaimedCount, unclaimed } = (await readRefusals(client, [name]))(name)
    if (head === undefined || head.claimed || refused + unclaimedCount === 0) return null
    return {
      ...name,
      readAt: toMs(head.read_at),
      refusals,
      unclaimed,
      counts: { refused, unclaimed: unclaimedCount },
    }
  })
}
