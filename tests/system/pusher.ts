import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { signPush } from '@counterfoil/testkit'
import { CONFIDENTIAL, SECRETS } from './secrets.js'

export type EventPush = {
  /** Delivery id. */
  readonly id: string
  readonly type?: 'notify' | 'tell_both' | 'mail' | 'expire'
  /** What the business key is made of; default the delivery id. */
  readonly subject?: string
  readonly secret?: string
  /** Epoch ms that the sender signs; default now. */
  readonly signedAt?: number
}

export type PushAnswer =
  | { readonly kind: 'answered'; readonly status: number; readonly retryAfter: string | null; readonly ms: number }
  /** The connection ended, or was never made, before an answer came. */
  | { readonly kind: 'lost'; readonly code: string; readonly ms: number }

export type Pusher = {
  readonly push: (event: EventPush) => Promise<PushAnswer>
  /** Like a queue: again after a pause until the answer is a success. Returns how many answers were none. */
  readonly pushUntilAcked: (event: EventPush, pauseMs?: number) => Promise<number>
  readonly close: () => void
}

export function eventBody({ id, type = 'notify', subject = id }: EventPush): string {
  return JSON.stringify({ type, subject, note: CONFIDENTIAL })
}

/** A sender of its own: it signs apart from the receiver's verifier and keeps connections alive as queues do. */
export function createPusher(port: number, maxSockets = 64): Pusher {
  const agent = new Agent({ keepAlive: true, maxSockets })
  const push = (event: EventPush): Promise<PushAnswer> => {
    const body = eventBody(event)
    const timestamp = Math.floor((event.signedAt ?? Date.now()) / 1000)
    const secret = event.secret ?? SECRETS.EVENTS_SECRET
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'x-delivery-id': event.id,
      'x-timestamp': timestamp,
      'x-signature': signPush(body, { scheme: 'timestamped', secret, timestamp }),
    }
    const startedAt = performance.now()
    return new Promise((resolve) => {
      const lost = (error: NodeJS.ErrnoException) =>
        resolve({ kind: 'lost', code: error.code ?? error.message, ms: performance.now() - startedAt })
      const call = request({ port, host: '127.0.0.1', path: '/push/events', method: 'POST', headers, agent })
      call.once('error', lost)
      call.once('response', (response) => {
        response.once('error', lost)
        response.once('end', () =>
          resolve({
            kind: 'answered',
            status: response.statusCode ?? 0,
            retryAfter: response.headers['retry-after'] ?? null,
            ms: performance.now() - startedAt,
          }),
        )
        response.resume()
      })
      call.end(body)
    })
  }
  return {
    push,
    pushUntilAcked: async (event, pauseMs = 50) => {
      for (let vain = 0; ; vain += 1) {
        if (isAck(await push(event))) return vain
        await sleep(pauseMs)
      }
    },
    close: () => agent.destroy(),
  }
}

export function isAck(answer: PushAnswer): boolean {
  return answer.kind === 'answered' && answer.status >= 200 && answer.status < 300
}

/** Runs `work` over the items, so many at a time. */
export async function forEachOf<T>(
  items: readonly T[],
  concurrency: number,
  work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  const queue = items.entries()
  const one = async () => {
    for (const [index, item] of queue) await work(item, index)
  }
  await Promise.all(Array.from({ length: concurrency }, one))
}
