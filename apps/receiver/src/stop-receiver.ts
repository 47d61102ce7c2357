import type { Server } from 'node:http'
import type { Logger } from 'pino'
import type { AckRecorder } from './ack-recorder.js'
import type { PushServer } from './create-push-server.js'
import type { IntakeBudget } from './intake-budget.js'
import type { RefusalLog } from './refusal-log.js'
import type { UnclaimedSpool } from './unclaimed-spool.js'

/** What a stop winds up, from the door inwards. */
export type StoppableReceiver = {
  readonly pushServer: PushServer
  readonly healthServer: Server
  readonly budget: IntakeBudget
  readonly store: { readonly drain: () => Promise<void> }
  readonly acks: AckRecorder
  readonly spool: UnclaimedSpool
  readonly refusals: RefusalLog
  /** Clock, wake-ups, database: what nobody needs once the rest is done. */
  readonly closeOthers: () => Promise<void>
  readonly drainDelayMs: number
  readonly graceMs: number
  readonly log: Logger
}

/** How long idle kept-alive connections are left open after the door closed, for pushes that are already on the wire. */
const LINGER_MS = 500
/** Kept back of the grace for acks and spool, which matter more than a sender that does not read its answer. */
const RECORDING_MS = 1500

/**
 * Drains without dropping a push. The caller has made the receiver unready. The door stays open for the announced
 * delay, since load balancers notice late; then nothing new is accepted, what was admitted gets its answer, and
 * the evidence is flushed. Ends within `graceMs`.
 */
export async function stopReceiver(parts: StoppableReceiver): Promise<void> {
  const { pushServer, budget, log } = parts
  const startedAt = performance.now()
  const endsAt = startedAt + parts.graceMs
  const answersEndAt = endsAt - Math.min(RECORDING_MS, parts.graceMs / 2)
  log.info({ ...budget.depth(), drainDelayMs: parts.drainDelayMs }, 'receiver.draining')

  await sleepUntil(Math.min(startedAt + parts.drainDelayMs, answersEndAt))
  const closed = new Promise<void>((resolve) => pushServer.server.once('close', resolve))
  pushServer.stopAccepting()
  await within(closed, Math.min(performance.now() + LINGER_MS, answersEndAt))
  await within(budget.whenEmpty(), answersEndAt)
  pushServer.closeIdle()
  await within(parts.store.drain(), answersEndAt)
  await within(closed, answersEndAt)
  const unanswered = budget.depth().pushes
  pushServer.closeAll()

  const lostAcks = await parts.acks.drain(endsAt)
  await parts.spool.close(endsAt)
  parts.refusals.close()
  await within(parts.closeOthers(), endsAt)
  parts.healthServer.closeAllConnections()
  parts.healthServer.close()
  log.info({ unanswered, lostAcks, tookMs: Math.round(performance.now() - startedAt) }, 'receiver.stopped')
}

/** Waits for the promise, at most until then; a rejection is as good as the end of the wait. */
async function within(promise: Promise<unknown>, endsAt: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, endsAt - performance.now()))
  })
  await Promise.race([promise.catch(() => {}), late])
  clearTimeout(timer)
}

function sleepUntil(at: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, at - performance.now())))
}
