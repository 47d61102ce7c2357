import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Ledger, openLedger, selectLines } from './ledger.js'
import { type PeerAnswer, type PeerRequest, servePeer } from './peer-server.js'
import { type PushAnswer, sendAndLoseAnswer, sendPush } from './send-push.js'
import { type SigningProfile, signPush, tamperPush } from './sign-push.js'

/** A job as it is handed to the queue, with what shall go wrong on its way. */
export type QueueJob = {
  /** The delivery id. */
  readonly id: string
  /** Which signing profile. */
  readonly source: string
  readonly body: string
  /** Epoch ms; now when absent. */
  readonly fireAt?: number
  /** Numbers of the pushes whose answer is lost, from 1. */
  readonly loseAnswerOf?: readonly number[]
  /** Sends that many copies at once as the first push. */
  readonly copies?: number
  /** Pushes once more after it was acked: a queue that forgot. */
  readonly repeat?: number
  readonly tamper?: boolean
  readonly shiftSignedTimeMs?: number
  /** Another receiver than the profile's. */
  readonly url?: string
}

export type QueueSettings = {
  readonly profiles: Readonly<Record<string, SigningProfile>>
  readonly firstRetryMs: number
  readonly capMs: number
  readonly maxAgeMs: number
  readonly timeoutMs: number
}

/** An at-least-once queue: it pushes until it reads a 2xx, it is told that the push is no good, or the job is too old. */
export class Queue {
  readonly #settings: QueueSettings
  readonly #ledger: Ledger

  constructor(settings: QueueSettings, ledger: Ledger) {
    this.#settings = settings
    this.#ledger = ledger
  }

  handle(request: PeerRequest): PeerAnswer {
    if (request.path === '/_peer/health') return { status: 200, body: { peer: 'queue' } }
    if (request.path === '/_peer/ledger') return { status: 200, body: selectLines(this.#ledger, request.query) }
    if (request.path !== '/jobs' || request.method !== 'POST') return { status: 404 }
    const job = JSON.parse(request.body.toString('utf8')) as QueueJob
    const profile = Object.hasOwn(this.#settings.profiles, job.source) ? this.#settings.profiles[job.source] : undefined
    if (profile === undefined) return { status: 400, body: { error: `no signing profile for ${job.source}` } }
    this.#ledger.append('enqueued', { job: job.id, source: job.source, fireAt: job.fireAt ?? null })
    void this.#work(job, job.url === undefined ? profile : { ...profile, url: job.url })
    return { status: 202 }
  }

  async #work(job: QueueJob, profile: SigningProfile): Promise<void> {
    if (job.fireAt !== undefined) await sleep(Math.max(0, job.fireAt - Date.now()))
    const startedAt = Date.now()
    const copies = Array.from({ length: (job.copies ?? 1) - 1 }, () => this.#push(job, profile, 1))
    for (let push = 1; ; push += 1) {
      const answer = await this.#push(job, profile, push)
      if (isDone(answer)) break
      if (isRefused(answer)) return this.#end(job, 'rejected')
      if (Date.now() - startedAt > this.#settings.maxAgeMs) return this.#end(job, 'gave_up')
      await sleep(this.#delay(push, answer))
    }
    await Promise.all(copies)
    for (let repeat = 0; repeat < (job.repeat ?? 0); repeat += 1) await this.#push(job, profile, 2 + repeat)
    this.#end(job, 'done')
  }

  async #push(job: QueueJob, profile: SigningProfile, push: number): Promise<PushAnswer> {
    const body = Buffer.from(job.body)
    const signed = signPush(profile, job.id, body, Date.now(), job.shiftSignedTimeMs ?? 0)
    const sent = job.tamper === true ? tamperPush(signed) : signed
    const digest = createHash('sha256').update(sent.body).digest('hex')
    this.#ledger.append('push', { job: job.id, push, digest })
    const startedAt = performance.now()
    const send = job.loseAnswerOf?.includes(push) === true ? sendAndLoseAnswer : sendPush
    const answer = await send(profile.url, sent, this.#settings.timeoutMs)
    this.#ledger.append('answer', {
      job: job.id,
      push,
      result: answer.kind,
      status: answer.kind === 'answered' ? answer.status : null,
      body: answer.kind === 'answered' ? answer.body.slice(0, 200) : null,
      retryAfterMs: answer.kind === 'answered' ? answer.retryAfterMs : null,
      code: answer.kind === 'failed' ? answer.code : null,
      ms: Math.round((performance.now() - startedAt) * 10) / 10,
    })
    return answer
  }

  /** Exponential with jitter, never before the receiver's `Retry-After`. */
  #delay(push: number, answer: PushAnswer): number {
    const bound = Math.min(this.#settings.capMs, this.#settings.firstRetryMs * 2 ** Math.min(push - 1, 10))
    const own = bound / 2 + (Math.random() * bound) / 2
    const told = answer.kind === 'answered' ? (answer.retryAfterMs ?? 0) : 0
    return Math.max(own, told)
  }

  #end(job: QueueJob, how: 'done' | 'rejected' | 'gave_up'): void {
    this.#ledger.append('ended', { job: job.id, how })
  }
}

function isDone(answer: PushAnswer): boolean {
  return answer.kind === 'answered' && answer.status >= 200 && answer.status < 300
}

/** Like most queues: a 4xx means that repeating is pointless, except for the two that ask for patience. */
function isRefused(answer: PushAnswer): boolean {
  if (answer.kind !== 'answered' || answer.status === 408 || answer.status === 429) return false
  return answer.status >= 400 && answer.status < 500
}

/** Runs the queue as this process: `PEER_LEDGER`, `PEER_PORT`, `PEER_HOST`, `PEER_PROFILES` (JSON). */
export function runQueue(env: Readonly<Record<string, string | undefined>>): void {
  const settings: QueueSettings = {
    profiles: JSON.parse(env.PEER_PROFILES ?? '{}') as Record<string, SigningProfile>,
    firstRetryMs: Number(env.PEER_FIRST_RETRY_MS ?? 300),
    capMs: Number(env.PEER_RETRY_CAP_MS ?? 3000),
    maxAgeMs: Number(env.PEER_MAX_AGE_MS ?? 60_000),
    timeoutMs: Number(env.PEER_TIMEOUT_MS ?? 10_000),
  }
  const queue = new Queue(settings, openLedger(env.PEER_LEDGER ?? '.counterfoil/ledgers/queue.jsonl'))
  servePeer({
    host: env.PEER_HOST ?? '127.0.0.1',
    port: Number(env.PEER_PORT ?? 0),
    handle: (request) => queue.handle(request),
  })
}
