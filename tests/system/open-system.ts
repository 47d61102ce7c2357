import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  type AppProcess,
  freshDatabase,
  type Sink,
  type SinkOptions,
  spawnApp,
  startSink,
  until,
} from '@counterfoil/testkit'
import pg from 'pg'
import { findLeaks } from './find-leaks.js'
import { createPusher, type Pusher } from './pusher.js'
import { SECRETS } from './secrets.js'

export const CONFIG_PATH = fileURLToPath(new URL('./counterfoil.config.ts', import.meta.url))

/** A start takes about a second; on a machine that is busy with everything else, much longer. */
const START_MS = 60_000

type Env = Readonly<Record<string, string>>

export type Service = AppProcess & { readonly instance: string; readonly healthPort: number }
export type Receiver = Service & { readonly port: number; readonly pusher: Pusher }

export type CommandResult = { readonly code: number | null; readonly stdout: string; readonly stderr: string }

/** Counterfoil as a test runs it: one database, one sink, and any number of real receivers and workers. */
export type System = {
  readonly databaseUrl: string
  readonly sink: Sink
  /** The test's own way to the database, past every proxy. */
  readonly pool: pg.Pool
  readonly env: Env
  readonly spoolDir: string
  readonly startReceiver: (env?: Env) => Promise<Receiver>
  readonly startWorker: (env?: Env) => Promise<Service>
  /** Starts a service without waiting for it. */
  readonly spawn: (role: 'receiver' | 'worker', env?: Env) => AppProcess
  /** Runs one command to its end. */
  readonly run: (args: readonly string[], env?: Env) => Promise<CommandResult>
  /** Waits until no entry is pending. */
  readonly drained: (timeoutMs?: number) => Promise<void>
  readonly count: (from: string) => Promise<number>
  /** Ends everything, and fails when a secret or the content of a push was printed by any process (I10). */
  readonly close: () => Promise<void>
}

export type SystemOptions = {
  /** Default: a fresh database of the run's server, dropped at the end. */
  readonly databaseUrl?: string
  readonly sink?: SinkOptions
  /** Further settings of every process. */
  readonly env?: Env
}

export async function openSystem(options: SystemOptions = {}): Promise<System> {
  const fresh = options.databaseUrl === undefined ? await freshDatabase() : null
  const databaseUrl = options.databaseUrl ?? fresh?.url ?? ''
  const sink = await startSink(options.sink)
  const directory = await mkdtemp(join(tmpdir(), 'counterfoil-e2e-'))
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 4 })
  // A killed server ends idle sessions; that is what such a test is about.
  pool.on('error', () => {})
  const env: Env = {
    ...SECRETS,
    SINK_URL: sink.url('').replace(/\/$/, ''),
    COUNTERFOIL_CONFIG: CONFIG_PATH,
    COUNTERFOIL_DATABASE_URL: databaseUrl,
    COUNTERFOIL_SPOOL_DIR: join(directory, 'spool'),
    COUNTERFOIL_PORT: '0',
    COUNTERFOIL_HEALTH_PORT: '0',
    ...options.env,
  }
  const apps: AppProcess[] = []
  const pushers: Pusher[] = []
  const spawn = (args: readonly string[], more: Env = {}): AppProcess => {
    const app = spawnApp(args, { env: { ...env, ...more }, cwd: directory })
    apps.push(app)
    return app
  }
  let started = 0
  const start = async (role: 'receiver' | 'worker', more: Env = {}): Promise<Service & { port: number }> => {
    started += 1
    const instance = `${role}-${started}`
    const app = spawn([role], { COUNTERFOIL_INSTANCE: instance, ...more })
    const line = await app.waitForLog(({ msg }) => msg === `${role}.started`, START_MS)
    const healthPort = Number(line.healthPort)
    await until(() => isReady(healthPort), { timeoutMs: START_MS, what: `the ${role} to be ready` })
    return { ...app, instance, healthPort, port: Number(line.port) }
  }
  const count = async (from: string): Promise<number> =>
    (await pool.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${from}`)).rows[0]?.n ?? -1
  return {
    databaseUrl,
    sink,
    pool,
    env,
    spoolDir: join(directory, 'spool'),
    startReceiver: async (more) => {
      const service = await start('receiver', more)
      const pusher = createPusher(service.port)
      pushers.push(pusher)
      return { ...service, pusher }
    },
    startWorker: (more) => start('worker', more),
    spawn: (role, more) => spawn([role], more),
    run: async (args, more) => {
      const app = spawn(args, more)
      const { code } = await app.ended
      return { code, stdout: app.stdout(), stderr: app.stderr() }
    },
    drained: async (timeoutMs = 30_000) => {
      // By the state of the entries: one that moves between `due` and `lease` could be missed in both.
      const isEmpty = async () => (await count(`counterfoil.entry WHERE state = 'pending'`)) === 0
      await until(isEmpty, { timeoutMs, everyMs: 50, what: 'the outbox to be drained' })
    },
    count,
    close: async () => {
      for (const pusher of pushers) pusher.close()
      await Promise.all(apps.map((app) => app.kill9()))
      await sink.kill()
      await pool.end()
      await fresh?.drop()
      await rm(directory, { recursive: true, force: true })
      const leaks = findLeaks(apps)
      if (leaks.length > 0) throw new Error(`I10: ${leaks.join('\n')}`)
    },
  }
}

export async function isReady(healthPort: number): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${healthPort}/readyz`, { signal: AbortSignal.timeout(2_000) })
  await response.arrayBuffer()
  return response.status === 200
}
