import { randomFillSync } from 'node:crypto'
import { createUuidV7Generator, type SourceContract } from '@counterfoil/core'
import {
  checkDatabase,
  createPostgresIntakeStore,
  type Database,
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
import { createPushServer } from './create-push-server.js'
import { describeError } from './describe-error.js'
import { createHealthServer } from './health.js'
import { createIntakeBudget } from './intake-budget.js'
import { listen } from './listen.js'
import { openDatabases } from './open-databases.js'
import { createReadiness } from './readiness.js'
import type { ReceiverSettings } from './receiver-settings.js'
import { createRefusalLog } from './refusal-log.js'
import { StartRefused } from './start-refused.js'
import { stopReceiver } from './stop-receiver.js'
import { createUnclaimedSpool } from './unclaimed-spool.js'
import { watchClock } from './watch-clock.js'

/** A receiver that takes pushes. */
export type RunningReceiver = {
  /** The port that pushes arrive on. */
  readonly port: number
  readonly healthPort: number
  /** Unready at once, then no new connections, then every admitted push gets its answer; within `graceMs`. */
  readonly stop: () => Promise<void>
}

export type ReceiverOptions = {
  readonly settings: ReceiverSettings
  readonly config: { readonly sources: ReadonlyMap<string, SourceContract> }
  readonly log: Logger
}

const BODY_TIMEOUT_MS = 30_000
const REFUSED_LINES_PER_SECOND = 20
const MAX_BUFFERED_ACKS = 100_000
const SPOOL_LIMITS = { maxTraces: 20_000, maxBytes: 8 * 1024 * 1024 }

/**
 * Starts the public HTTP process. Throws `StartRefused` with one clear sentence per problem when the database is not
 * fit to take responsibility on, or when an address can't be listened on.
 */
export async function startReceiver({ settings, config, log }: ReceiverOptions): Promise<RunningReceiver> {
  const { database, probes } = openDatabases(settings, [...config.sources.values()])
  const closeDatabases = async () => {
    await Promise.all([database.close(), probes.close()])
  }
  try {
    await refuseUnfit(probes)
    return await openDoors({ settings, config, log }, database, probes, closeDatabases)
  } catch (error) {
    await closeDatabases()
    throw error
  }
}

async function openDoors(
  { settings, config, log }: ReceiverOptions,
  database: Database,
  probes: Database,
  closeDatabases: () => Promise<void>,
): Promise<RunningReceiver> {
  let draining = false
  const isDraining = () => draining
  const { instance, maxQueuedPushes, maxQueuedBytes } = settings
  const clock = watchClock(probes, settings.clockToleranceMs, log)
  await clock.measure().catch((error: unknown) => log.warn(describeError(error), 'clock.not_measured'))
  const store = openStore({ database, instance, maxQueuedPushes, maxQueuedBytes, log })
  const wakeups = createWakeups({ redisUrl: settings.redisUrl, databaseUrl: settings.databaseUrl, log })
  const budget = createIntakeBudget({ maxPushes: maxQueuedPushes, maxBytes: maxQueuedBytes })
  const acks = createAckRecorder({ store, maxBuffered: MAX_BUFFERED_ACKS, log })
  const spool = createUnclaimedSpool({ dir: settings.spoolDir, store, ...SPOOL_LIMITS, log })
  const refusals = createRefusalLog({
    log,
    linesPerSecond: REFUSED_LINES_PER_SECOND,
    now: () => performance.now(),
  })
  const handler = createPushHandler({
    sourcesByPath: new Map([...config.sources.values()].map((source) => [source.path, source])),
    store,
    budget,
    acks,
    spool,
    refusals,
    readClock: clock.read,
    wake: (destination) => wakeups.wake(destination),
    newId: createUuidV7Generator({ now: () => timeOf(clock.read()), fillRandom: (pool) => randomFillSync(pool) }),
    random: Math.random,
    bodyTimeoutMs: BODY_TIMEOUT_MS,
    isClosing: () => !pushServer.server.listening,
    log,
  })
  const pushServer = createPushServer(handler, refusals)
  const healthServer = createHealthServer(
    createReadiness({
      checkDatabase: () => checkDatabase(probes),
      readClock: clock.read,
      isDraining,
      monotonicNow: () => performance.now(),
    }),
  )
  const closeOthers = async () => {
    clock.stop()
    await wakeups.close()
    await closeDatabases()
  }
  try {
    const healthPort = await listen(healthServer, settings.healthHost, settings.healthPort, 'COUNTERFOIL_HEALTH')
    await spool.start()
    const port = await listen(pushServer.server, settings.host, settings.port, 'COUNTERFOIL')
    clock.start()
    log.info({ port, healthPort, instance, sources: [...config.sources.keys()] }, 'receiver.started')
    let stopping: Promise<void> | null = null
    const stop = (): Promise<void> => {
      draining = true
      const { graceMs, drainDelayMs } = settings
      stopping ??= stopReceiver({
        ...{ pushServer, healthServer, budget, store, acks, spool, refusals },
        ...{ closeOthers, drainDelayMs, graceMs, log },
      })
      return stopping
    }
    return { port, healthPort, stop }
  } catch (error) {
    clock.stop()
    healthServer.close()
    await Promise.all([wakeups.close(), spool.close(performance.now())])
    throw error
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

async function refuseUnfit(database: Database): Promise<void> {
  const facts = await readDatabaseFacts(database)
  const problems = judgeDatabase(facts)
  if (problems.length > 0) throw new StartRefused(problems, facts.kind === 'unreachable' ? 7 : 2)
}

function timeOf(reading: ClockReading): number {
  return reading.kind === 'unknown' ? Date.now() : reading.now
}
