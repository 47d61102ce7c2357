import { rm } from 'node:fs/promises'
import type { IntakeStore, UnclaimedTrace } from '@counterfoil/core'
import type { Logger } from 'pino'
import { adoptSpools, spoolPath } from './adopt-spools.js'
import { describeError } from './describe-error.js'
import { createSpoolFile } from './spool-file.js'
import { formatTraceLine } from './trace-line.js'

/**
 * Traces of authenticated pushes that got no claim. They outlive the process on local disk until the database takes
 * them, so that "authenticated, never claimed" has data behind it while the database is away.
 */
export type UnclaimedSpool = {
  /** Fire and forget: never throws, never waits, also when the disk is full or read-only. */
  readonly add: (trace: UnclaimedTrace) => void
  /** Says that the store just committed something: what is spooled is written down. Cheap when nothing is. */
  readonly noteCommit: () => void
  /** Adopts the files of dead processes, and begins to look for more. */
  readonly start: () => Promise<void>
  /** Writes down what it can until `deadlineAt` (`performance.now()` ms); the rest stays on disk for the next process. */
  readonly close: (deadlineAt: number) => Promise<void>
  readonly depth: () => number
}

export type UnclaimedSpoolOptions = {
  readonly dir: string
  readonly store: Pick<IntakeStore, 'recordUnclaimed'>
  readonly maxTraces: number
  readonly maxBytes: number
  readonly log: Logger
}

type Spooled = { readonly trace: UnclaimedTrace; readonly line: string }

const BATCH = 500
const HEARTBEAT_MS = 5000
/** While the database is away, each good-looking moment is tried, but not more often than this. */
const RETRY_AFTER_MS = 1000
const COMPLAIN_EVERY_MS = 60_000

export function createUnclaimedSpool(options: UnclaimedSpoolOptions): UnclaimedSpool {
  const { log } = options
  const file = createSpoolFile(spoolPath(options.dir))
  let spooled: Spooled[] = []
  let bytes = 0
  let unwritten = ''
  let tornFile = false
  let dropped = 0
  let disk: Promise<void> = Promise.resolve()
  let writingDown: Promise<void> | null = null
  let adopting: Promise<void> | null = null
  let retryAt = 0
  let complainAt = 0
  let heartbeat: NodeJS.Timeout | null = null

  /** One disk operation after the other; a failed one costs durability, never a push. */
  const onDisk = (operation: () => Promise<void>): Promise<void> => {
    disk = disk.then(operation).catch((error: unknown) => {
      tornFile = true
      if (performance.now() < complainAt) return
      complainAt = performance.now() + COMPLAIN_EVERY_MS
      log.error({ ...describeError(error), held: spooled.length }, 'spool.disk_failed')
    })
    return disk
  }
  const rewrite = async (): Promise<void> => {
    unwritten = ''
    await file.replace(spooled.map(({ line }) => line).join(''))
    tornFile = false
  }
  const writeLines = async (): Promise<void> => {
    if (tornFile) return rewrite()
    const lines = unwritten
    unwritten = ''
    if (lines !== '') await file.append(lines)
  }

  const keep = (trace: UnclaimedTrace): void => {
    const line = formatTraceLine(trace)
    if (spooled.length >= options.maxTraces || bytes + line.length > options.maxBytes) {
      dropped += 1
      if (dropped === 1) log.warn({ held: spooled.length }, 'spool.full')
      return
    }
    spooled.push({ trace, line })
    bytes += line.length
    const idle = unwritten === ''
    unwritten += line
    if (idle) void onDisk(writeLines)
  }

  const writeDown = async (): Promise<void> => {
    try {
      while (spooled.length > 0) {
        const batch = spooled.slice(0, BATCH)
        await options.store.recordUnclaimed(batch.map(({ trace }) => trace))
        spooled = spooled.slice(batch.length)
        for (const { line } of batch) bytes -= line.length
        log.info({ written: batch.length, left: spooled.length, dropped }, 'spool.written_down')
      }
      dropped = 0
      await onDisk(rewrite)
    } catch (error) {
      retryAt = performance.now() + RETRY_AFTER_MS
      log.debug({ ...describeError(error), held: spooled.length }, 'spool.kept')
    }
  }
  const tryWriteDown = (): void => {
    if (spooled.length === 0 || writingDown !== null || performance.now() < retryAt) return
    writingDown = writeDown().finally(() => {
      writingDown = null
    })
  }

  const adoptAll = async (): Promise<void> => {
    for (const found of await adoptSpools(options.dir, new Set([file.path]), options.maxBytes)) {
      for (const trace of found.traces) keep(trace)
      await onDisk(writeLines)
      await rm(found.path, { force: true })
      log.info({ traces: found.traces.length, corruptLines: found.corruptLines }, 'spool.adopted')
    }
  }
  /** One at a time: a file just taken still looks like an orphan. */
  const adopt = (): Promise<void> => {
    adopting ??= adoptAll()
      .catch((error: unknown) => log.warn(describeError(error), 'spool.adoption_failed'))
      .finally(() => {
        adopting = null
      })
    return adopting
  }
  const beat = (): void => {
    void onDisk(tornFile ? rewrite : file.touch)
    void adopt()
    tryWriteDown()
  }

  return {
    add: keep,
    noteCommit: () => {
      if (spooled.length > 0) tryWriteDown()
    },
    start: async () => {
      await adopt()
      tryWriteDown()
      heartbeat = setInterval(beat, HEARTBEAT_MS).unref()
    },
    close: async (deadlineAt) => {
      if (heartbeat !== null) clearInterval(heartbeat)
      retryAt = 0
      tryWriteDown()
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, Math.max(0, deadlineAt - performance.now()))
      })
      await Promise.race([writingDown, late])
      await Promise.race([onDisk(writeLines), late])
      clearTimeout(timer)
      await onDisk(() => file.close(spooled.length === 0))
    },
    depth: () => spooled.length,
  }
}
