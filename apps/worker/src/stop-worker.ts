import type { Server } from 'node:http'
import type { Wakeups } from '@counterfoil/queue'
import type { Logger } from 'pino'
import type { CloseBatcher } from './drain/close-batcher.js'
import type { Line } from './drain/line.js'
import type { ServiceRunner } from './services/service-runner.js'

export type StopOptions = {
  readonly lines: ReadonlyMap<string, Line>
  readonly closes: CloseBatcher
  readonly runner: ServiceRunner
  readonly wakeups: Wakeups
  readonly health: Server
  readonly closeDatabases: () => Promise<unknown>
  readonly graceMs: number
  readonly log: Logger
}

/** Share of the grace that requests in flight get; the rest is for recording what became of them. */
const IN_FLIGHT_SHARE = 0.7

/**
 * Leases nothing more, lets requests in flight finish, gives up on the rest (what had left decides: not sent, or
 * uncertain), records the outcomes, closes. Bounded by the grace also when database and Redis are gone: what could not
 * be recorded then is a lease that runs out, and is found as uncertain.
 */
export async function stopWorker(options: StopOptions): Promise<void> {
  const { lines, closes, runner, wakeups, health, graceMs, log } = options
  const endsAt = performance.now() + graceMs
  const all = [...lines.values()]
  log.info({ inHand: count(all) }, 'worker.stopping')
  const settled = Promise.all(all.map(async ({ drainer }) => drainer.stop().then(() => drainer.settled())))
  const others = Promise.all([runner.stop(), wakeups.close()])

  await within(settled, graceMs * IN_FLIGHT_SHARE)
  for (const { downstream } of all) downstream.giveUp()
  await within(settled, graceMs * 0.2)
  const left = count(all)
  if (left > 0) log.warn({ left, notRecorded: closes.waiting() }, 'worker.stopped_with_open_attempts')

  health.close()
  health.closeAllConnections()
  const ended = Promise.all([others, options.closeDatabases(), ...all.map(({ downstream }) => downstream.close())])
  await within(ended, Math.max(100, endsAt - performance.now()))
  log.info({ left }, 'worker.stopped')
}

function count(lines: readonly Line[]): number {
  return lines.reduce((sum, { drainer }) => sum + drainer.inHand(), 0)
}

/** Waits for `work`, at most `ms`. Never rejects. */
async function within(work: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([work.catch(() => {}), late])
  clearTimeout(timer)
}
