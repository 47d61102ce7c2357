import { createCoalescer } from './coalescer.js'
import { createLink } from './link.js'
import { createPostgres } from './postgres-backend.js'
import { createRedis } from './redis-backend.js'
import { addWakeup, type JobHandler, readNextRun, SERVICE_PREFIX, upsertSchedule, WAKE_JOB } from './session.js'
import type { ScheduledJob, Wakeups, WakeupsOptions } from './wakeups.js'
import { withDeadline } from './with-deadline.js'

/** Shortest time between two wake-ups for one destination from one process, ms. */
const GAP_MS = 50
/** A scheduled job is late when it is overdue by twice its interval and this, ms: clocks of a fleet differ a little. */
const LATE_MS = 2_000

/** Opens nothing yet: connecting happens in the background and is repeated until it works. Never throws. */
export function createWakeups(options: WakeupsOptions): Wakeups {
  const { redisUrl, databaseUrl, log } = options
  const backend = redisUrl === null ? createPostgres(databaseUrl) : createRedis(redisUrl, log)
  const jobs = new Map<string, ScheduledJob>()
  const running = new Set<string>()
  let onWake: ((destination: string) => void) | null = null

  const link = createLink({
    backend,
    log,
    onConnected: registerJobs,
    handlerOf: () => (onWake === null ? null : handle),
  })
  const coalescer = createCoalescer({
    gapMs: GAP_MS,
    add: (destination) => link.attempt((queue) => addWakeup(queue, destination)),
  })

  const handle: JobHandler = async (job) => {
    // Returning at once is the point: no ticket is held while anything is sent.
    if (job.name === WAKE_JOB && typeof job.data.destination === 'string') onWake?.(job.data.destination)
    else if (job.name.startsWith(SERVICE_PREFIX)) await runJob(job.name.slice(SERVICE_PREFIX.length))
  }

  async function runJob(name: string): Promise<void> {
    const job = jobs.get(name)
    if (job === undefined || running.has(name)) return
    running.add(name)
    try {
      await job.run()
    } catch (error) {
      log.error({ job: name, err: error }, 'scheduled_job.failed')
    } finally {
      running.delete(name)
    }
  }

  async function registerJobs(): Promise<void> {
    for (const job of jobs.values()) await link.attempt((queue) => upsertSchedule(queue, job.name, job.everyMs))
  }

  async function isLate(name: string): Promise<boolean> {
    const job = jobs.get(name)
    const queue = link.queue()
    if (job === undefined || queue === null) return true
    try {
      const next = await withDeadline(readNextRun(queue, name), 1_000)
      if (next !== null) return Math.abs(Date.now() - next) > 2 * job.everyMs + LATE_MS
      // Somebody flushed it away.
      await withDeadline(upsertSchedule(queue, name, job.everyMs), 1_000)
    } catch {
      // The back end is away; whoever asked runs the job.
    }
    return true
  }

  return {
    wake: (destination) => coalescer.request(destination),
    listen: async (handler) => {
      onWake = handler
      link.listenSoon()
    },
    schedule: async (added) => {
      for (const job of added) jobs.set(job.name, job)
      void registerJobs()
    },
    isLate,
    close: async () => {
      coalescer.stop()
      await link.close()
    },
  }
}
