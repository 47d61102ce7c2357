import { classifyFailure } from '@counterfoil/db'
import type { Wakeups } from '@counterfoil/queue'
import type { Logger } from 'pino'
import type { Service } from './service.js'

export type ServiceRunnerOptions = {
  readonly services: readonly Service[]
  readonly wakeups: Pick<Wakeups, 'schedule' | 'isLate'>
  /** Runs the work unless another process of the fleet is at it. */
  readonly runExclusively: (name: string, work: () => Promise<void>) => Promise<unknown>
  readonly onDue: (destination: string) => void
  /** Monotonic, ms. */
  readonly now: () => number
  readonly log: Logger
}

export type ServiceRunner = {
  start(): Promise<void>
  /** Starts no more runs; resolves when the current ones have ended. */
  stop(): Promise<void>
}

/** Most pages in one run: a backlog must not keep the other services waiting. */
const MAX_PAGES = 20
/** A fleet's run that this process did not see, ms on top of three intervals, before it asks whether the queue is late. */
const PATIENCE_MS = 1_000

/**
 * Runs each service once across the fleet: BullMQ's job schedulers give every tick to one worker. When the queue is away
 * or late, the workers tick themselves, one at a time under an advisory lock: repair never depends on Redis (I7).
 */
export function createServiceRunner(options: ServiceRunnerOptions): ServiceRunner {
  const inTurn = { ...options, runExclusively: takeTurns(options.runExclusively) }
  const watches = options.services.map((service) => createWatch(service, inTurn))
  return {
    start: async () => {
      for (const watch of watches) watch.start()
      await options.wakeups.schedule(
        watches.map(({ service, run }) => ({ name: service.name, everyMs: service.everyMs, run })),
      )
    },
    stop: async () => {
      await Promise.all(watches.map((watch) => watch.stop()))
    },
  }
}

/**
 * One exclusive run at a time. Each holds a connection for its lock and needs another one for its work: five at once
 * on a pool of four wait for each other until the connect time-out (measured: 5 s until the worker was ready).
 */
function takeTurns(runExclusively: ServiceRunnerOptions['runExclusively']): ServiceRunnerOptions['runExclusively'] {
  let last: Promise<unknown> = Promise.resolve()
  return (name, work) => {
    const mine = last.then(() => runExclusively(name, work))
    last = mine.catch(() => {})
    return mine
  }
}

function createWatch(service: Service, options: ServiceRunnerOptions) {
  const { log, now } = options
  let ranAt = now()
  let isOnItsOwn = false
  let isFailing = false
  let isStopped = false
  let tick: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()

  /** Never overlaps itself here, never rejects. */
  function run(): Promise<void> {
    running = running.then(runPages)
    return running
  }

  async function runPages(): Promise<void> {
    ranAt = now()
    try {
      for (let page = 0; page < MAX_PAGES && !isStopped; page += 1) {
        const { counts, destinations, more } = await service.runOnce()
        if (Object.values(counts).some((count) => count > 0)) {
          log.info({ service: service.name, ...counts }, 'service.ran')
        }
        for (const destination of destinations) options.onDue(destination)
        if (!more) break
      }
      if (isFailing) log.info({ service: service.name }, 'service.resumed')
      isFailing = false
    } catch (error) {
      if (!isFailing)
        log.warn({ service: service.name, cause: classifyFailure(error).cause, err: error }, 'service.failed')
      isFailing = true
    }
  }

  async function watch(): Promise<void> {
    try {
      const isOverdue = now() - ranAt > 3 * service.everyMs + PATIENCE_MS
      if (!isStopped && (isOnItsOwn || isOverdue)) {
        isOnItsOwn = await options.wakeups.isLate(service.name)
        if (isOnItsOwn) await options.runExclusively(service.name, run)
        // Another worker got the ticks, as it should be: ask again after the same patience.
        else ranAt = now()
      }
    } catch (error) {
      if (!isFailing) log.warn({ service: service.name, cause: classifyFailure(error).cause }, 'service.failed')
      isFailing = true
    }
    if (!isStopped) tick = setTimeout(watch, service.everyMs)
  }

  /**
   * Once, whatever the queue says: a killed worker's tick stays taken until its lock runs out (30 s), and workers that
   * die one after the other within their patience would repair nothing (measured: a minute without any sweep).
   */
  async function repairAtStart(): Promise<void> {
    try {
      if (!isStopped) await options.runExclusively(service.name, run)
    } catch (error) {
      log.warn({ service: service.name, cause: classifyFailure(error).cause }, 'service.failed')
      isFailing = true
    }
    if (!isStopped) tick = setTimeout(watch, service.everyMs)
  }

  return {
    service,
    run,
    start: () => {
      tick = setTimeout(repairAtStart, 0)
    },
    stop: async () => {
      isStopped = true
      clearTimeout(tick)
      await running
    },
  }
}
