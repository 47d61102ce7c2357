import { setMaxListeners } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import type { SigningKey, SourceContract } from '@counterfoil/core'
import { type PushAttempt, type PushPlan, type PushResult, pushUntilAcked } from './push-until-acked.js'
import { type PushAnswer, sendOnce } from './send-once.js'
import type { ShapedPush } from './shape-push.js'

export type PushRun = {
  readonly source: SourceContract
  readonly key: SigningKey
  readonly url: URL
  readonly push: ShapedPush
  readonly plan: PushPlan
  readonly copies: number
  readonly concurrency: number
  /** How far the signed time is moved into the past, ms. */
  readonly staleMs: number
  readonly tamper: boolean
  /** Loses the answer to the first try of every copy. */
  readonly dropResponse: boolean
  readonly signal: AbortSignal
  readonly onAttempt: (copy: number, attempt: PushAttempt, nextInMs: number | null) => void
}

/** Pushes every copy until it is acknowledged or given up; results in the order of the copies. */
export async function runPushes(run: PushRun): Promise<readonly PushResult[]> {
  // Every request in flight listens to it.
  setMaxListeners(0, run.signal)
  const results: PushResult[] = []
  let next = 0
  const lane = async () => {
    while (next < run.copies) {
      const copy = next
      next += 1
      results[copy] = await pushCopy(run, copy + 1)
    }
  }
  await Promise.all(Array.from({ length: Math.min(run.concurrency, run.copies) }, lane))
  return results
}

function pushCopy(run: PushRun, copy: number): Promise<PushResult> {
  return pushUntilAcked(run.plan, {
    send: (attempt) => sendAttempt(run, attempt),
    now: () => Date.now(),
    // Interrupted: stop waiting, and let the caller say how far it came.
    wait: (ms) => wait(ms, undefined, { signal: run.signal }).then(undefined, () => {}),
    random: Math.random,
    signal: run.signal,
    onAttempt: (attempt, nextInMs) => run.onAttempt(copy, attempt, nextInMs),
  })
}

/** Signed anew for every try, as a queue does; the body is the same every time. */
async function sendAttempt(run: PushRun, attempt: number): Promise<PushAnswer> {
  const { source, key, url, push } = run
  const unsigned = {
    method: 'POST',
    publicUrl: publicUrlOf(source, url),
    headers: push.headers,
    rawBody: push.body,
  }
  const signed = (await source.sign?.(unsigned, key, Date.now() - run.staleMs)) ?? unsigned
  const counter =
    source.senderAttempt?.kind === 'header' ? { [source.senderAttempt.header.toLowerCase()]: String(attempt) } : {}
  return sendOnce({
    url: withQueryOf(url, signed.publicUrl),
    headers: { ...signed.headers, ...counter },
    body: run.tamper ? tamper(signed.rawBody) : signed.rawBody,
    timeoutMs: source.ack.senderTimeoutMs,
    dropResponse: run.dropResponse && attempt === 1,
    signal: run.signal,
  })
}

/** The URL as the sender knows it: the configured one, with the query that goes to the receiver. */
function publicUrlOf(source: SourceContract, url: URL): string | null {
  return source.publicUrl === null ? null : withQueryOf(new URL(source.publicUrl), url.href).href
}

/** Some schemes sign by a parameter of the query. */
function withQueryOf(url: URL, signed: string | null): URL {
  if (signed === null) return url
  const to = new URL(url)
  to.search = new URL(signed).search
  return to
}

/** The same body with one bit changed after it was signed. */
function tamper(body: Buffer): Buffer {
  const changed = Buffer.from(body.length === 0 ? ' ' : body)
  const middle = Math.floor(changed.length / 2)
  changed[middle] = (changed[middle] ?? 0) ^ 1
  return changed
}
