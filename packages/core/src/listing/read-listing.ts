import { parseInstant } from '../intake/parse-instant.js'
import type { ListedDelivery } from './listed-delivery.js'

/** How a sender's list is written down. A further one is a further reader here. */
export const LISTING_FORMATS = ['lines', 'jsonl', 'github'] as const
export type ListingFormat = (typeof LISTING_FORMATS)[number]

/** `d-1`, or `d-1` and an instant, parted by white space or a comma. Blank lines and those that begin with # are none. */
export function readListedLine(line: string): ListedDelivery | 'none' | 'unreadable' {
  const text = line.trim()
  if (text === '' || text.startsWith('#')) return 'none'
  const [id = '', time, ...more] = text.split(/[\s,]+/)
  if (more.length > 0 || id === '') return 'unreadable'
  return withInstant(id, time, 'unknown')
}

/** `{ "id": "d-1", "at"?: instant, "status"?: "delivered" | "failed" }`. */
export function readListedObject(value: unknown): ListedDelivery | 'unreadable' {
  if (!isObject(value)) return 'unreadable'
  const id = readId(value.id)
  const { status = 'unknown' } = value
  if (id === null || (status !== 'delivered' && status !== 'failed' && status !== 'unknown')) return 'unreadable'
  return withInstant(id, value.at, status)
}

/** A delivery as GitHub's API for webhooks lists it: redeliveries share their `guid`, which is `X-GitHub-Delivery`. */
export function readGithubDelivery(value: unknown): ListedDelivery | 'unreadable' {
  if (!isObject(value)) return 'unreadable'
  const id = readId(value.guid)
  if (id === null) return 'unreadable'
  const code = value.status_code
  const worked = typeof code === 'number' && code >= 200 && code < 300
  return withInstant(id, value.delivered_at, worked ? 'delivered' : 'failed')
}

/** A number counts only where it was not rounded. */
function readId(value: unknown): string | null {
  if (typeof value === 'string') return value === '' ? null : value
  return Number.isSafeInteger(value) ? String(value) : null
}

function withInstant(id: string, time: unknown, believed: ListedDelivery['believed']): ListedDelivery | 'unreadable' {
  if (time === undefined || time === null) return { id, at: null, believed }
  const at = parseInstant(time)
  return at === null ? 'unreadable' : { id, at, believed }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
