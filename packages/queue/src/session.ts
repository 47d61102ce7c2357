import { createHash } from 'node:crypto'
import type { Job, Queue, Worker } from 'bullmq'

/** Name of the one queue that carries wake-ups and scheduled jobs. */
export const QUEUE_NAME = 'counterfoil'
export const WAKE_JOB = 'wake'
/** Scheduled jobs are told from wake-ups by this prefix. */
export const SERVICE_PREFIX = 'service-'

export type JobData = { readonly destination?: string }
export type JobHandler = (job: Pick<Job<JobData, unknown, string>, 'name' | 'data'>) => Promise<void>

/** What both back ends of BullMQ offer us; the same calls on either. */
export type AnyQueue = Pick<
  Queue<JobData, unknown, string>,
  'add' | 'upsertJobScheduler' | 'getJobScheduler' | 'waitUntilReady' | 'close'
>
export type AnyWorker = Pick<Worker<JobData, unknown, string>, 'waitUntilReady' | 'close'>

/** A connected back end. */
export type Connection = {
  readonly queue: AnyQueue
  /** False while a call would only wait for the back end to come back. */
  readonly isUp: () => boolean
  /** Begins to take jobs. */
  startWorker(handler: JobHandler): AnyWorker
  /** Cuts every socket at once: what still waits on them fails. */
  cut(): void
}

export type Backend = {
  readonly kind: 'redis' | 'postgres'
  /** Resolves with a connection that has answered, or rejects; never waits longer than a few seconds. */
  connect(): Promise<Connection>
}

/**
 * Handlers return at once, so many may run; after an error a worker looks again in a second, not in BullMQ's 15. What a
 * killed worker had taken is free again after 10 to 20 s instead of 30 to 60.
 */
export const WORKER_OPTIONS = {
  concurrency: 16,
  runRetryDelay: 1_000,
  lockDuration: 10_000,
  stalledInterval: 10_000,
} as const

const ADD_OPTIONS = { removeOnComplete: true, removeOnFail: true, attempts: 1 } as const

/** One wake-up waits per destination; one that arrives while it is being handled follows it. */
export async function addWakeup(queue: AnyQueue, destination: string): Promise<void> {
  await queue.add(
    WAKE_JOB,
    { destination },
    { ...ADD_OPTIONS, deduplication: { id: encodeId(destination), keepLastIfActive: true } },
  )
}

export async function upsertSchedule(queue: AnyQueue, name: string, everyMs: number): Promise<void> {
  const job = SERVICE_PREFIX + name
  await queue.upsertJobScheduler(encodeId(job), { every: everyMs }, { name: job, data: {}, opts: ADD_OPTIONS })
}

/** Epoch ms of the next run by the clock of whoever planned it; `null`: nobody has planned one. */
export async function readNextRun(queue: AnyQueue, name: string): Promise<number | null> {
  const scheduler = await queue.getJobScheduler(encodeId(SERVICE_PREFIX + name))
  return scheduler?.next ?? null
}

/** Any text as an id that BullMQ takes: no colon, not digits only, short. */
function encodeId(text: string): string {
  return `h${createHash('sha256').update(text).digest('hex').slice(0, 32)}`
}
