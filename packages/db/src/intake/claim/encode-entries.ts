import type { PlannedEntry } from '@counterfoil/core'
import { encodeBuffers, encodeTexts, encodeUuids } from '../../connection/encode-array.js'

/** An entry with the delivery that asks for it. */
export type AskedEntry = { readonly deliveryUuid: string; readonly entry: PlannedEntry }

/** Eight parameters, in the order of `ENTRY_COLUMNS`. */
export function encodeEntries(asked: readonly AskedEntry[]): Buffer[] {
  return [
    encodeUuids(asked.map(({ entry }) => entry.id)),
    encodeUuids(asked.map(({ deliveryUuid }) => deliveryUuid)),
    encodeTexts(asked.map(({ entry }) => entry.destination)),
    encodeTexts(asked.map(({ entry }) => entry.idempotencyKey)),
    encodeBuffers(asked.map(({ entry }) => entry.body)),
    encodeBuffers(asked.map(({ entry }) => entry.bodyDigest)),
    encodeTexts(asked.map(({ entry }) => entry.contentType)),
    encodeTexts(asked.map(({ entry }) => entry.orderingKey)),
  ]
}
