import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findFreePort } from '../process/find-free-port.js'
import { initialiseDataDir } from './initialise-data-dir.js'
import { findPostgresBinaries } from './postgres-binaries.js'
import { launchPostmaster, type Postmaster } from './postmaster.js'
import { chooseServerUser } from './server-user.js'

export type StopMode = 'smart' | 'fast' | 'immediate'

export type PostgresServer = {
  readonly port: number
  readonly dataDir: string
  /** Connection string of the superuser; default database `postgres`. */
  readonly url: (database?: string) => string
  /** Id of the postmaster, or `null` while it is down. */
  readonly pid: () => number | null
  /** What the server wrote to its log, the last 64 KiB of it. */
  readonly log: () => string
  /** Kills all processes of the server without warning. Resolves when they are gone. */
  readonly kill9: () => Promise<void>
  /** `fast` (default) ends sessions and writes a checkpoint, `immediate` writes none. */
  readonly stop: (mode?: StopMode) => Promise<void>
  /** Stops the postmaster and all its processes (SIGSTOP): connections stay open and nothing answers. */
  readonly pause: () => void
  readonly resume: () => void
  /** Starts it again on the same port and data. */
  readonly start: () => Promise<void>
  readonly restart: (mode?: StopMode) => Promise<void>
  /** Ends it for good and removes the data directory unless the caller named it. */
  readonly close: () => Promise<void>
}

export type PostgresOptions = {
  /** Default: a new temporary directory, removed at the end. */
  readonly dataDir?: string
  /** Default: a free one. */
  readonly port?: number
  /** Server settings, e.g. `{ fsync: 'off' }`. Durability is the server's default unless named here. */
  readonly settings?: Readonly<Record<string, string>>
}

/**
 * Starts a PostgreSQL server of its own for one test (or for one test run), with real durability by default.
 *
 * Works as root (the server then runs as `postgres` or `nobody`) and as a normal user. It listens on 127.0.0.1 only,
 * with a random password, and does not outlive this process.
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const user = chooseServerUser()
  const binaries = findPostgresBinaries(user)
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'counterfoil-pg-')))
  const ownDirectory = options.dataDir === undefined ? dataDir : ''
  const password = await initialiseDataDir(dataDir, binaries, user)
  const launch = (port: number) =>
    launchPostmaster({ binaries, user, dataDir, port, settings: options.settings ?? {}, ownDirectory })

  let postmaster: Postmaster | null = await launchOnFreePort(launch, options.port)
  const port = postmaster.port
  const end = async (signal: 'SIGTERM' | 'SIGINT' | 'SIGQUIT' | 'SIGKILL') => {
    const ending = postmaster
    postmaster = null
    await ending?.end(signal)
  }
  const stop = (mode: StopMode = 'fast') => end(STOP_SIGNALS[mode])
  const start = async () => {
    postmaster ??= await launch(port)
  }
  return {
    port,
    dataDir,
    url: (database = 'postgres') => `postgres://postgres:${password}@127.0.0.1:${port}/${database}`,
    pid: () => postmaster?.pid ?? null,
    log: () => postmaster?.log() ?? '',
    kill9: () => end('SIGKILL'),
    stop,
    pause: () => postmaster?.pause(),
    resume: () => postmaster?.resume(),
    start,
    restart: async (mode) => {
      await stop(mode)
      await start()
    },
    close: async () => {
      await stop('immediate')
      if (ownDirectory !== '') await rm(ownDirectory, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

const STOP_SIGNALS = { smart: 'SIGTERM', fast: 'SIGINT', immediate: 'SIGQUIT' } as const

async function launchOnFreePort(launch: (port: number) => Promise<Postmaster>, port: number | undefined) {
  if (port !== undefined) return launch(port)
  for (let tries = 1; ; tries += 1) {
    try {
      return await launch(await findFreePort())
    } catch (error) {
      if (tries === 5 || !String(error).includes('Address already in use')) throw error
    }
  }
}
