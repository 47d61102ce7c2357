import type { TransitionOutcome } from '../transition/transition.js'
import type { AckRecord, UnclaimedTrace } from './intake-store.js'
import type { PlannedDelivery, PlannedEntry } from './planned-push.js'

export type MemoryObservation = {
  readonly id: string
  readonly number: number
  readonly kind: 'first' | 'duplicate' | 'conflict'
}

export type MemoryOutcome = {
  readonly transition: string
  readonly subject: string
  readonly outcome: TransitionOutcome
  readonly decidedBy: 'push' | 'deferral' | 'sweep'
}

export type MemoryClaim = {
  readonly delivery: Pick<PlannedDelivery, 'id' | 'source' | 'deliveryId' | 'identityDigest'>
  readonly planned: PlannedDelivery | null
  readonly observations: readonly MemoryObservation[]
  readonly outcomes: readonly MemoryOutcome[]
}

export type MemoryLink = { readonly delivery: string; readonly entry: string; readonly bodyDiffers: boolean }

/** Business rows by table and id, each a record of its columns. */
export type MemoryTables = ReadonlyMap<string, ReadonlyMap<string, Readonly<Record<string, unknown>>>>

/** Everything that the memory store holds. Every change makes a new one, so that a failed push leaves no trace. */
export type MemoryRecords = {
  /** By `claimKey`. */
  readonly claims: ReadonlyMap<string, MemoryClaim>
  /** By `entryKey`. */
  readonly entries: ReadonlyMap<string, PlannedEntry & { readonly delivery: string }>
  readonly links: readonly MemoryLink[]
  /** Delivery → epoch ms. */
  readonly deferred: ReadonlyMap<string, number>
  readonly refused: readonly { readonly source: string; readonly deliveryId: string; readonly retryAfterMs: number }[]
  readonly conflicts: readonly { readonly observation: string; readonly body: Buffer }[]
  readonly acks: ReadonlyMap<string, AckRecord>
  readonly unclaimed: ReadonlyMap<string, UnclaimedTrace>
  readonly tables: MemoryTables
}

export const EMPTY_RECORDS: MemoryRecords = {
  claims: new Map(),
  entries: new Map(),
  links: [],
  deferred: new Map(),
  refused: [],
  conflicts: [],
  acks: new Map(),
  unclaimed: new Map(),
  tables: new Map(),
}

export function claimKey(source: string, deliveryId: string): string {
  return JSON.stringify([source, deliveryId])
}

export function addTo<K, V>(map: ReadonlyMap<K, V>, key: K, value: V): ReadonlyMap<K, V> {
  return new Map(map).set(key, value)
}

/** One entry per (destination, key) (I3): a second asker is linked to the one that stands. */
export function addEntries(
  records: MemoryRecords,
  delivery: string,
  entries: readonly PlannedEntry[],
): { readonly records: MemoryRecords; readonly destinations: readonly string[] } {
  const all = new Map(records.entries)
  const links = [...records.links]
  const destinations: string[] = []
  for (const entry of entries) {
    const key = claimKey(entry.destination, entry.idempotencyKey)
    const standing = all.get(key)
    if (standing === undefined) {
      all.set(key, { ...entry, delivery })
      destinations.push(entry.destination)
    } else if (standing.delivery !== delivery) {
      links.push({ delivery, entry: standing.id, bodyDiffers: !standing.bodyDigest.equals(entry.bodyDigest) })
    }
  }
  return { records: { ...records, entries: all, links }, destinations }
}
