import type { IncomingMessage } from 'node:http'
import type { SourceContract } from '@counterfoil/core'
import type { Seat } from './intake-budget.js'
import type { PushDeps } from './push-deps.js'
import type { TurnedAway } from './push-end.js'

export type Admitted = {
  readonly kind: 'admitted'
  readonly source: SourceContract
  readonly seat: Seat
  /** Epoch ms by the database clock. */
  readonly now: number
}

/**
 * Decides by the request line and the headers alone, before a byte of the body is read. What the sender got wrong
 * comes first: a wrong request stays wrong however we are.
 *
 * @param url the request target as it came, also where a framework rewrote `request.url`
 */
export function admitPush(request: IncomingMessage, url: string, deps: PushDeps): Admitted | TurnedAway {
  const query = url.indexOf('?')
  const source = deps.sourcesByPath.get(query === -1 ? url : url.slice(0, query)) ?? null
  if (source === null) return { kind: 'turned_away', source, cause: 'unknown_source' }
  if (request.method !== 'POST') return { kind: 'turned_away', source, cause: 'wrong_method' }
  if (!isIdentity(request.headers['content-encoding'])) return { kind: 'turned_away', source, cause: 'encoded_body' }
  const announcedBytes = Number(request.headers['content-length'] ?? 0)
  if (announcedBytes > source.bodyLimitBytes) return { kind: 'turned_away', source, cause: 'too_large' }
  const clock = deps.readClock()
  if (clock.kind === 'unknown') return { kind: 'turned_away', source, cause: 'clock_unknown' }
  if (clock.kind === 'off') return { kind: 'turned_away', source, cause: 'clock_off' }
  const seat = deps.budget.enter(announcedBytes)
  if (seat === null) return { kind: 'turned_away', source, cause: 'overloaded' }
  return { kind: 'admitted', source, seat, now: clock.now }
}

/** Decoding before the signature is checked would let a stranger's kilobyte cost us gigabytes. */
function isIdentity(encoding: string | undefined): boolean {
  return encoding === undefined || encoding === '' || encoding.toLowerCase() === 'identity'
}
