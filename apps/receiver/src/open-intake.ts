import { randomFillSync } from 'node:crypto'
import { type ConfigProblem, checkOpenSources, formatProblem } from '@counterfoil/config'
import { createUuidV7Generator, type KeyMaterial, type SourceContract } from '@counterfoil/core'
import {
  checkDatabase,
  createPostgresIntakeStore,
  type Database,
  findOpenSources,
  type IntakeStoreOptions,
  judgeDatabase,
  type PostgresIntakeStore,
  readDatabaseFacts,
} from '@counterfoil/db'
import { createWakeups } from '@counterfoil/queue'
import type { Logger } from 'pino'
import { createAckRecorder } from './ack-recorder.js'
import type { ClockReading } from './clock-offset.js'
import { createPushHandler } from './create-push-handler.js'
import { describeError } from './describe-error.js'
import type { HealthCheck } from './health.js'
import { createIntakeBudget } from './intake-budget.js'
import { openDatabases } from './open-databases.js'
import { confirmByVisit, openKeyMaterial } from './open-key-material.js'
import type { PushDeps } from './push-deps.js'
import type { PushHandler } from './push-handler.js'
import { createReadiness } from './readiness.js'
import type { ReceiverSettings } from './receiver-settings.js'
import { createRefusalLog, type RefusalLog } from './refusal-log.js'
import { StartRefused } from './start-refused.js'
import { createUnclaimedSpool } from './unclaimed-spool.js'
import { watchClock } from './watch-clock.js'
import { within } from './within.js'

export type IntakeOptions = {
  readonly settings: Omit<ReceiverSettings, 'host' | 'port' | 'healthHost' | 'healthPort' | 'graceMs' | 'drainDelayMs'>
  readonly config: { readonly sources: ReadonlyMap<string, SourceContract> }
  readonly log: Logger
  /** True once the server accepts nothing new, so that answers end their connection. Default: never. */
  readonly isClosing?: () => boolean
  /** Keys that senders publish. Default: fetched from them. */
  readonly keyMaterial?: KeyMaterial
  /** How a sender's handshake gets our consent where that means a visit. Default: a GET. */
  readonly confirm?: PushDeps['confirm']
}

/** Everything behind the door: for `startReceiver`, and for who mounts the handler on a server of their own. */
export type Intake = {
  readonly handler: PushHandler
  readonly refusals: RefusalLog
  readonly checkReadiness: () => Promise<readonly HealthCheck[]>
  readonly depth: () => { readonly pushes: number; readonly bytes: number }
  /** Unready from now on; pushes are still taken. */
  readonly beginDrain: () => void
  /** Resolves when nobody who was admitted still waits for an answer. */
  readonly whenAnswered: () => Promise<void>
  /** Takes nothing more, flushes the evidence, closes the database; at `endsAt` (`performance.now()` ms) at the latest. */
  readonly close: (endsAt: number) => Promise<{ readonly lostAcks: number }>
}

const BODY_TIMEOUT_MS = 30_000
const REFUSED_LINES_PER_SECOND = 20
const MAX_BUFFERED_ACKS = 100_000
const SPOOL_LIMITS = { maxTraces: 20_000, maxBytes: 8 * 1024 * 1024 }
/** Kept back for acks and spool when the store doesn't finish. */
const RECORDING_MS = 1000

/** Throws `StartRefused` with one clear sentence per problem when the database is not fit to take responsibility on. */
export async function openIntake(options: IntakeOptions): Promise<Intake> {
  const { database, probes } = openDatabases(options.settings, [...options.config.sources.values()])
  try {
    await refuseUnfit(probes, options)
    return await compose(options, database, probes)
  } catch (error) {
    await Promise.all([database.close(), probes.close()])
    throw error
  }
}

async function compose(options: IntakeOptions, database: Database, probes: Database): Promise<Intake> {
  const { settings, config, log } = options
  const { instance, maxQueuedPushes, maxQueuedBytes, spoolDir } = settings
  let draining = false
  const store = openStore({ database, instance, maxQueuedPushes, maxQueuedBytes, log })
  const clock = watchClock(probes, settings.clockToleranceMs, log)
  await clock.measure().catch((error: unknown) => log.warn(describeError(error), 'clock.not_measured'))
  const wakeups = createWakeups({ redisUrl: settings.redisUrl, databaseUrl: settings.databaseUrl, log })
  const budget = createIntakeBudget({ maxPushes: maxQueuedPushes, maxBytes: maxQueuedBytes })
  const acks = createAckRecorder({ store, maxBuffered: MAX_BUFFERED_ACKS, log })
  const spool = createUnclaimedSpool({ dir: spoolDir, store, ...SPOOL_LIMITS, log })
  const now = () => performance.now()
  const refusals = createRefusalLog({ log, linesPerSecond: REFUSED_LINES_PER_SECOND, now })
  const handler = createPushHandler({
    sourcesByPath: new Map([...config.sources.values()].map((source) => [source.path, source])),
    ...{ store, budget, acks, spool, refusals, log },
    keyMaterial: options.keyMaterial ?? openKeyMaterial({ log }),
    confirm: options.confirm ?? confirmByVisit,
    readClock: clock.read,
    wake: (destination) => wakeups.wake(destination),
    newId: createUuidV7Generator({ now: () => timeOf(clock.read()), fillRandom: (pool) => randomFillSync(pool) }),
    random: Math.random,
    bodyTimeoutMs: BODY_TIMEOUT_MS,
    isClosing: options.isClosing ?? (() => false),
  })
  const checkReadiness = createReadiness({
    checkDatabase: () => checkDatabase(probes),
    readClock: clock.read,
    isDraining: () => draining,
    monotonicNow: now,
  })
  const close = async (endsAt: number): Promise<{ readonly lostAcks: number }> => {
    draining = true
    clock.stop()
    await within(store.drain(), endsAt - RECORDING_MS)
    const lostAcks = await acks.drain(endsAt)
    await spool.close(endsAt)
    refusals.close()
    await within(wakeups.close(), endsAt)
    await within(Promise.all([database.close(), probes.close()]), endsAt)
    return { lostAcks }
  }
  clock.start()
  await spool.start()
  return {
    ...{ handler, refusals, checkReadiness, close },
    depth: budget.depth,
    beginDrain: () => {
      draining = true
    },
    whenAnswered: budget.whenEmpty,
  }
}

function openStore(options: IntakeStoreOptions): PostgresIntakeStore {
  try {
    return createPostgresIntakeStore(options)
  } catch (error) {
    if (error instanceof RangeError) throw new StartRefused([`${error.message} Set COUNTERFOIL_DATABASE_POOL.`], 2)
    throw error
  }
}

async function refuseUnfit(database: Database, { config, settings }: IntakeOptions): Promise<void> {
  const facts = await readDatabaseFacts(database)
  const problems = judgeDatabase(facts)
  if (problems.length > 0) throw new StartRefused(problems, facts.kind === 'unreachable' ? 7 : 2)
  const unfit = [
    ...checkOpenSources(config.sources, await findOpenSources(database)),
    ...checkBodyLimits(config.sources, settings.maxQueuedBytes),
  ]
  if (unfit.length > 0) throw new StartRefused(unfit.map(formatProblem), 2)
}

/** A push that may be larger than everything that may wait would be answered 503 for ever. */
function checkBodyLimits(sources: ReadonlyMap<string, SourceContract>, maxQueuedBytes: number): ConfigProblem[] {
  return [...sources.values()]
    .filter(({ bodyLimitBytes }) => bodyLimitBytes > maxQueuedBytes)
    .map(({ name, bodyLimitBytes }) => ({
      severity: 'error',
      path: `sources.${name}.bodyLimit`,
      message: `${bodyLimitBytes} is more than COUNTERFOIL_MAX_QUEUED_BYTES (${maxQueuedBytes}): raise that, or lower this`,
    }))
}

function timeOf(reading: ClockReading): number {
  return reading.kind === 'unknown' ? Date.now() : reading.now
}
