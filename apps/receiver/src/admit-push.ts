import type { IncomingMessage } from 'node:http'
import { answerHandshake, type SourceContract } from '@counterfoil/core'
import type { Seat } from './intake-budget.js'
import type { PushDeps } from './push-deps.js'
import type { Greeted, TurnedAway } from './push-end.js'
import { toPushRequest } from './push-request.js'

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
export function admitPush(request: IncomingMessage, url: string, deps: PushDeps): Admitted | Greeted | TurnedAway {
  const query = url.indexOf('?')
  const source = deps.sourcesByPath.get(query === -1 ? url : url.slice(0, query)) ?? null
  if (source === null) return { kind: 'turned_away', source, cause: 'unknown_source' }
  if (request.method !== 'POST') return greetByHeaders(request, url, source)
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

const NO_BODY = Buffer.alloc(0)

/** Nothing but a POST makes a delivery; some senders ask with another method whether they may send at all. */
function greetByHeaders(request: IncomingMessage, url: string, source: SourceContract): Greeted | TurnedAway {
  const asked = toPushRequest(request, url, source, NO_BODY)
  const input = { request: asked, verified: null, document: undefined }
  const answer = answerHandshake(source.handshakes, 'before_verification', input)
  if (answer === null) return { kind: 'turned_away', source, cause: 'wrong_method' }
  return { kind: 'greeted', source, keyId: null, answer, unconfirmed: null }
}

/** Decoding before the signature is checked would let a stranger's kilobyte cost us gigabytes. */
function isIdentity(encoding: string | undefined): boolean {
  return encoding === undefined || encoding === '' || encoding.toLowerCase() === 'identity'
}
