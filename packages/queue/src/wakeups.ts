import type { Logger } from 'pino'

/** A job that runs once across the fleet, every `everyMs`. `run` never overlaps itself in one process. */
export type ScheduledJob = {
  readonly name: string
  readonly everyMs: number
  readonly run: () => Promise<void>
}

/**
 * Hints that a destination has entries due. They carry nothing but its name (I7): losing every one of
 * them costs the time until the next poll, never work.
 */
export type Wakeups = {
  /** Coalesced, never throws, never awaited: a failure is counted and logged once per outage. */
  wake(destination: string): void
  /** Calls `handler` for each wake-up. Resolves at once, also while the back end is away; listening begins when it is back. */
  listen(handler: (destination: string) => void): Promise<void>
  /** Registers repeated jobs. Resolves at once like `listen`; needs `listen` to have been called for them to run here. */
  schedule(jobs: readonly ScheduledJob[]): Promise<void>
  /** True when the fleet has not been given this job for too long, or the back end is away: run it yourself. */
  isLate(name: string): Promise<boolean>
  /** At most 2 s, whatever state the back end is in. */
  close(): Promise<void>
}

export type WakeupsOptions = {
  /** `null`: BullMQ's PostgreSQL back end on the product's own database. */
  readonly redisUrl: string | null
  readonly databaseUrl: string
  readonly log: Logger
}
