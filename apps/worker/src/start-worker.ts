import { randomFillSync } from 'node:crypto'
import { createUuidV7Generator } from '@counterfoil/core'
import { checkDatabase, type Database, ensureDestinations, openDatabase, runExclusively } from '@counterfoil/db'
import { createWakeups } from '@counterfoil/queue'
import type { Logger } from 'pino'
import { openCloses, openLines } from './drain/open-lines.js'
import type { FaultPoints } from './fault-points.js'
import { createHealthServer, listen } from './health/health-server.js'
import { createReadiness } from './health/readiness.js'
import { createReconciler } from './reconcile/reconciler.js'
import { refuseUnfit } from './refuse-unfit.js'
import { createApplyDeferred } from './services/apply-deferred.js'
import { createExpireLeases } from './services/expire-leases.js'
import type { Service } from './services/service.js'
import { createServiceRunner } from './services/service-runner.js'
import { createSweepLate } from './services/sweep-late.js'
import { createSweeps } from './services/sweep-overdue.js'
import { stopWorker } from './stop-worker.js'
import type { WorkerConfig, WorkerSettings } from './worker-settings.js'

export type StartWorkerOptions = {
  readonly settings: WorkerSettings
  readonly config: WorkerConfig
  readonly log: Logger
  /** For tests of crashes only. */
  readonly fault?: FaultPoints
}

export type RunningWorker = {
  readonly healthPort: number
  /** Stops leasing, lets requests in flight end, records their outcomes, closes. Bounded by `settings.graceMs`. */
  readonly stop: () => Promise<void>
}

/** Repair, probes and the advisory lock have connections of their own: they must not wait for the hot path. */
const BACKGROUND_CONNECTIONS = 4
const STATEMENT_TIMEOUT_MS = 10_000
/** Above the statement's own: only a connection that is gone stays silent so long. */
const ANSWER_TIMEOUT_MS = 12_000

/** Starts draining. Throws `WorkerStartRefused` with one sentence per problem where it cannot work. */
export async function startWorker(options: StartWorkerOptions): Promise<RunningWorker> {
  const { settings, config, log } = options
  const hot = openPool(settings, 'worker', settings.databasePool, { onlyByKey: true })
  const background = openPool(settings, 'worker background', BACKGROUND_CONNECTIONS)
  const closeDatabases = () => Promise.all([hot.close(), background.close()])
  try {
    await refuseUnfit(background, config)
    await ensureDestinations(background, [...config.destinations.keys()])
    return await startParts(options, hot, background, closeDatabases)
  } catch (error) {
    log.debug('worker.not_started')
    await closeDatabases()
    throw error
  }
}

async function startParts(
  options: StartWorkerOptions,
  hot: Database,
  background: Database,
  closeDatabases: () => Promise<unknown>,
): Promise<RunningWorker> {
  const { settings, log } = options
  let isStopping = false
  const wakeups = createWakeups({ redisUrl: settings.redisUrl, databaseUrl: settings.databaseUrl, log })
  const closes = openCloses(hot, log)
  const lines = openLines({ ...options, database: hot, closes, wakeups, now })
  const wake = (destination: string) => lines.get(destination)?.drainer.wake()
  const onDue = (destination: string) => {
    wake(destination)
    wakeups.wake(destination)
  }
  const reconciler = createReconciler({
    database: background,
    destinations: options.config.destinations,
    instance: settings.instance,
    onDue,
    random: Math.random,
    log,
  })
  const runner = createServiceRunner({
    services: [...listServices(options, background), reconciler.service],
    wakeups,
    runExclusively: (name, work) => runExclusively(background, name, work),
    onDue,
    now,
    log,
  })
  const health = createHealthServer({
    tickAgeMs: () => Math.max(0, ...[...lines.values()].map(({ drainer }) => now() - drainer.turnedAt())),
    problems: createReadiness({ isStopping: () => isStopping, check: () => checkDatabase(background), now }),
  })
  try {
    const healthPort = await listen(health, settings.healthHost, settings.healthPort)
    await wakeups.listen(wake)
    await runner.start()
    for (const { drainer } of lines.values()) drainer.wake()
    log.info({ instance: settings.instance, destinations: [...lines.keys()], healthPort }, 'worker.started')
    let stopping: Promise<void> | null = null
    const stop = () => {
      isStopping = true
      stopping ??= stopWorker({
        lines,
        closes,
        runner,
        wakeups,
        health,
        // Open questions are given up at once; what came of them is written down before the connections go.
        closeDatabases: () => reconciler.stop().then(closeDatabases),
        graceMs: settings.graceMs,
        log,
      })
      return stopping
    }
    return { healthPort, stop }
  } catch (error) {
    await wakeups.close()
    throw error
  }
}

function listServices({ settings, config }: StartWorkerOptions, database: Database): readonly Service[] {
  const newId = createUuidV7Generator({ now: Date.now, fillRandom: (pool) => randomFillSync(pool) })
  return [
    createExpireLeases(database, config.destinations, Math.random),
    createApplyDeferred(database, config.sources, newId),
    createSweepLate(database),
    ...createSweeps(database, config.transitions, settings.instance),
  ]
}

function openPool(
  settings: WorkerSettings,
  name: string,
  max: number,
  more: { readonly onlyByKey?: boolean } = {},
): Database {
  return openDatabase({
    ...more,
    url: settings.databaseUrl,
    max,
    applicationName: `counterfoil ${name} ${settings.instance}`,
    role: null,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    connectTimeoutMs: 5_000,
    answerTimeoutMs: ANSWER_TIMEOUT_MS,
  })
}

function now(): number {
  return performance.now()
}
