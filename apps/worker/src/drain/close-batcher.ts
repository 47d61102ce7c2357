import { type AttemptClose, type CloseResult, classifyFailure } from '@counterfoil/db'
import type { Logger } from 'pino'
import { type Backoff, createBackoff, wait } from './backoff.js'

/** What the batcher needs of the database. */
export type CloseStore = {
  closeAttempts(closes: readonly AttemptClose[]): Promise<readonly CloseResult[]>
  recordLateOutcome(close: AttemptClose): Promise<unknown>
  applyLateOutcomes(entryId: string): Promise<unknown>
}

export type CloseBatcherOptions = {
  readonly store: CloseStore
  readonly maxBatch: number
  readonly log: Logger
  readonly random: () => number
}

export type CloseBatcher = {
  /**
   * Resolves when the database has answered for this attempt, however long that takes: an outcome is never dropped.
   * A lost lease has its outcome kept as a late one before this resolves (I5).
   */
  close(close: AttemptClose): Promise<CloseResult>
  /** How many outcomes wait for the database. */
  readonly waiting: () => number
}

type Waiting = { readonly close: AttemptClose; readonly resolve: (result: CloseResult) => void }

/**
 * Group commit of outcomes: whatever finished while one batch was being written is the next batch. One batch at a
 * time, so that two batches of one process never wait for each other's rows.
 */
export function createCloseBatcher(options: CloseBatcherOptions): CloseBatcher {
  const { store, log } = options
  const queue: Waiting[] = []
  let writing = 0
  let isRunning = false

  async function run(): Promise<void> {
    isRunning = true
    // Everything that ends in this turn of the event loop shares the first batch.
    await new Promise((resolve) => setImmediate(resolve))
    while (queue.length > 0) {
      const batch = queue.splice(0, options.maxBatch)
      writing = batch.length
      await writeBatch(batch)
      writing = 0
    }
    isRunning = false
  }

  async function writeBatch(batch: readonly Waiting[]): Promise<void> {
    const backoff = startBackoff()
    for (;;) {
      try {
        return answer(batch, await store.closeAttempts(batch.map(({ close }) => close)))
      } catch (error) {
        const { kind, cause } = classifyFailure(error)
        // Not the connection's fault, so one of them is to blame: the others must not wait for it.
        if (kind === 'data' || kind === 'other') return splitBatch(batch, cause)
        await pause(backoff, { what: 'close', attempts: batch.length, cause })
      }
    }
  }

  async function splitBatch(batch: readonly Waiting[], cause: string): Promise<void> {
    const [first] = batch
    if (batch.length === 1 && first !== undefined) {
      log.error({ entry: first.close.leased.id, cause }, 'outcome.refused')
      void settleBeside(first, () =>
        store.closeAttempts([first.close]).then(([result]) => result ?? { kind: 'lease_lost' }),
      )
      return
    }
    const middle = batch.length >> 1
    await writeBatch(batch.slice(0, middle))
    await writeBatch(batch.slice(middle))
  }

  function answer(batch: readonly Waiting[], results: readonly CloseResult[]): void {
    if (results.length !== batch.length) throw new Error('closeAttempts must answer once for each attempt')
    batch.forEach((waiting, at) => {
      const result = results[at] ?? { kind: 'lease_lost' }
      if (result.kind === 'recorded' && !result.hasLateOutcome) waiting.resolve(result)
      else void settleBeside(waiting, () => settleLate(waiting.close, result))
    })
  }

  async function settleLate(close: AttemptClose, result: CloseResult): Promise<CloseResult> {
    if (result.kind === 'lease_lost') await store.recordLateOutcome(close)
    else await store.applyLateOutcomes(close.leased.id)
    return result
  }

  /** Rare, so one by one and beside the batches; repeated until the database answers. */
  async function settleBeside(waiting: Waiting, settle: () => Promise<CloseResult>): Promise<void> {
    const backoff = startBackoff()
    for (;;) {
      try {
        return waiting.resolve(await settle())
      } catch (error) {
        await pause(backoff, { what: 'late outcome', attempts: 1, cause: classifyFailure(error).cause })
      }
    }
  }

  function startBackoff(): Backoff {
    return createBackoff({ firstMs: 50, capMs: 2_000, random: options.random })
  }

  async function pause(backoff: Backoff, why: { what: string; attempts: number; cause: string }): Promise<void> {
    const waitMs = backoff.nextMs()
    if (backoff.isFirst()) log.warn({ ...why, waitMs }, 'outcomes.waiting')
    await wait(waitMs)
  }

  return {
    close: (close) =>
      new Promise((resolve) => {
        queue.push({ close, resolve })
        if (!isRunning) void run()
      }),
    waiting: () => queue.length + writing,
  }
}
