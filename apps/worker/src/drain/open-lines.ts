import { randomUUID } from 'node:crypto'
import {
  applyLateOutcomes,
  closeAttempts,
  type Database,
  handBackLease,
  leaseDue,
  recordLateOutcome,
} from '@counterfoil/db'
import type { Wakeups } from '@counterfoil/queue'
import type { Logger } from 'pino'
import { type FaultPoints, noFaults } from '../fault-points.js'
import type { WorkerConfig, WorkerSettings } from '../worker-settings.js'
import { type CloseBatcher, createCloseBatcher } from './close-batcher.js'
import { type Line, openLine } from './line.js'

export type OpenLinesOptions = {
  readonly settings: Pick<WorkerSettings, 'instance' | 'pollMs'>
  readonly config: Pick<WorkerConfig, 'destinations'>
  readonly database: Database
  readonly closes: CloseBatcher
  readonly wakeups: Pick<Wakeups, 'wake'>
  readonly now: () => number
  readonly log: Logger
  readonly fault?: FaultPoints
}

const CLOSE_BATCH = 512
/** Between the end of the longest request and the end of its lease: the time to record its outcome, ms. */
const CLOSE_MARGIN_MS = 2_000

/** One line per configured destination. Nothing is leased before its drainer is woken. */
export function openLines(options: OpenLinesOptions): ReadonlyMap<string, Line> {
  const { settings, config, log, fault = noFaults, database, closes, wakeups, now } = options
  const worker = settings.instance
  const lines = new Map<string, Line>()
  for (const contract of config.destinations.values()) {
    const { name: destination, leaseMs } = contract
    const sendMarginMs = Math.min(leaseMs, contract.timeouts.totalMs + CLOSE_MARGIN_MS)
    const store = {
      leaseDue: (request: { limit: number; dueFrom: Date | null; token: string }) =>
        leaseDue(database, { ...request, destination, leaseMs, sendMarginMs, worker }),
      handBackLease: (token: string) => handBackLease(database, { token, worker }),
    }
    const line = openLine({
      contract,
      worker,
      store,
      pollMs: settings.pollMs,
      newToken: randomUUID,
      passOn: () => wakeups.wake(destination),
      close: closes.close,
      now,
      random: Math.random,
      log,
      fault,
    })
    lines.set(destination, line)
  }
  return lines
}

/** The outcomes of every destination share their commits. */
export function openCloses(database: Database, log: Logger): CloseBatcher {
  return createCloseBatcher({
    store: {
      closeAttempts: (batch) => closeAttempts(database, batch),
      recordLateOutcome: (close) => recordLateOutcome(database, close),
      applyLateOutcomes: (entryId) => applyLateOutcomes(database, entryId),
    },
    maxBatch: CLOSE_BATCH,
    random: Math.random,
    log,
  })
}
