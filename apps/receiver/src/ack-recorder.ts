import type { AckRecord, IntakeStore } from '@counterfoil/core'
import type { Logger } from 'pino'
import { describeError } from './describe-error.js'

/** The third checkpoint: what was answered. Buffered beside the ack path, never on it. */
export type AckRecorder = {
  readonly record: (ack: AckRecord) => void
  /** Writes what is buffered; gives up at `deadlineAt` (`performance.now()` ms) and returns how many are lost. */
  readonly drain: (deadlineAt: number) => Promise<number>
}

/** Written 100 ms after the first record of a batch, so that a slow write still ends within the promised 200 ms. */
const FLUSH_AFTER_MS = 100
/** A batch is written early when it is this long. */
const BATCH = 1000
const FIRST_RETRY_MS = 200
const LONGEST_RETRY_MS = 5000

/**
 * Repeating a record is harmless, so a batch whose write failed or stayed in doubt is written again. Beyond
 * `maxBuffered` the oldest are dropped and counted: their absence reads "no ack on record, it may have been sent".
 */
export function createAckRecorder(options: {
  readonly store: Pick<IntakeStore, 'recordAcks'>
  readonly maxBuffered: number
  readonly log: Logger
}): AckRecorder {
  let buffered: AckRecord[] = []
  let dropped = 0
  let timer: NodeJS.Timeout | null = null
  let writing: Promise<void> | null = null
  let retryMs = 0

  const schedule = (afterMs: number): void => {
    timer ??= setTimeout(() => {
      timer = null
      void write()
    }, afterMs).unref()
  }

  const writeBatch = async (): Promise<void> => {
    const batch = buffered.slice(0, BATCH)
    buffered = buffered.slice(batch.length)
    try {
      await options.store.recordAcks(batch)
      if (retryMs > 0) options.log.info({ buffered: buffered.length, dropped }, 'ack.recording_again')
      retryMs = 0
    } catch (error) {
      buffered = batch.concat(buffered)
      if (retryMs === 0)
        options.log.warn({ ...describeError(error), buffered: buffered.length }, 'ack.recording_failed')
      retryMs = Math.min(LONGEST_RETRY_MS, Math.max(FIRST_RETRY_MS, retryMs * 2))
    }
  }

  const write = (): Promise<void> => {
    writing ??= writeBatch().finally(() => {
      writing = null
      if (buffered.length > 0) schedule(retryMs > 0 ? retryMs : buffered.length >= BATCH ? 0 : FLUSH_AFTER_MS)
    })
    return writing
  }

  return {
    record: (ack) => {
      if (buffered.length >= options.maxBuffered) {
        // A whole batch at once: shifting a long array for every record would cost more than the record.
        dropped += Math.min(BATCH, buffered.length)
        buffered = buffered.slice(BATCH)
      }
      buffered.push(ack)
      if (buffered.length >= BATCH && retryMs === 0 && writing === null) void write()
      else if (writing === null) schedule(FLUSH_AFTER_MS)
    },
    drain: async (deadlineAt) => {
      while (buffered.length > 0 || writing !== null) {
        const leftMs = deadlineAt - performance.now()
        if (leftMs <= 0) break
        await Promise.race([write(), wait(leftMs)])
        if (retryMs > 0) await wait(Math.min(retryMs, Math.max(0, deadlineAt - performance.now())))
      }
      if (timer !== null) clearTimeout(timer)
      return buffered.length + dropped
    },
  }
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
