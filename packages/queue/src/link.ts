import type { Logger } from 'pino'
import type { AnyQueue, AnyWorker, Backend, Connection, JobHandler } from './session.js'
import { withDeadline } from './with-deadline.js'

/** A back end that failed every call for so long is connected anew, ms: a BullMQ object can stay dead for ever. */
const RENEW_AFTER_MS = 10_000
/** Longest wait between two tries to connect, ms. */
const RETRY_MS = 2_000
const CLOSE_MS = 1_000

export type LinkOptions = {
  readonly backend: Backend
  readonly log: Logger
  readonly onConnected: () => Promise<void>
  /** `null`: this process only adds. */
  readonly handlerOf: () => JobHandler | null
}

/** The way to a back end that comes and goes. Nothing here throws or waits longer than a few seconds. */
export type Link = {
  /** Runs `call` when the back end is there; a failure is counted, and logged once per outage. */
  attempt(call: (queue: AnyQueue) => Promise<void>): Promise<void>
  /** `null` while the back end is away. */
  queue(): AnyQueue | null
  /** `handlerOf` has a handler now. */
  listenSoon(): void
  close(): Promise<void>
}

export function createLink(options: LinkOptions): Link {
  const { backend, log } = options
  let connection: Connection | null = null
  let worker: AnyWorker | null = null
  let isClosed = false
  let missed = 0
  let awaySince: number | null = null
  let wakeRetry: () => void = () => {}

  async function keepConnecting(): Promise<void> {
    for (let waitMs = 100; !isClosed; waitMs = Math.min(RETRY_MS, waitMs * 2)) {
      try {
        const opened = await backend.connect()
        if (isClosed) return opened.cut()
        connection = opened
        noteSuccess()
        startListening()
        await options.onConnected()
        return
      } catch (error) {
        noteFailure(error)
        await pause(waitMs)
      }
    }
  }

  function startListening(): void {
    const handler = options.handlerOf()
    if (connection === null || worker !== null || handler === null || isClosed) return
    worker = connection.startWorker(handler)
  }

  async function attempt(call: (queue: AnyQueue) => Promise<void>): Promise<void> {
    const current = connection
    if (current === null) {
      // Still connecting, or `keepConnecting` has told of the outage.
      missed += 1
      return
    }
    if (!current.isUp()) return noteFailure(new Error('not connected'))
    try {
      await withDeadline(call(current.queue), 3_000)
      noteSuccess()
    } catch (error) {
      noteFailure(error)
      if (awaySince !== null && performance.now() - awaySince > RENEW_AFTER_MS && connection === current) renew()
    }
  }

  function renew(): void {
    connection?.cut()
    connection = null
    worker = null
    void keepConnecting()
  }

  function noteFailure(error: unknown): void {
    missed += 1
    if (awaySince !== null || isClosed) return
    awaySince = performance.now()
    const cause = error instanceof Error ? error.message : 'unknown'
    log.warn({ backend: backend.kind, cause }, 'wakeups.away: entries are found by polling meanwhile')
  }

  function noteSuccess(): void {
    if (awaySince !== null) log.info({ backend: backend.kind, missed }, 'wakeups.back')
    awaySince = null
    missed = 0
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      wakeRetry = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  async function close(): Promise<void> {
    isClosed = true
    wakeRetry()
    // A clean close says goodbye to the back end; one that is away or silent is cut loose.
    const goodbye = Promise.all([worker?.close(), connection?.queue.close()])
    await withDeadline(goodbye, CLOSE_MS).catch(() => {})
    connection?.cut()
  }

  void keepConnecting()
  return {
    attempt,
    queue: () => (connection?.isUp() ? connection.queue : null),
    listenSoon: startListening,
    close,
  }
}
