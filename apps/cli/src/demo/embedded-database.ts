import { randomBytes } from 'node:crypto'
import { chownSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import pg from 'pg'
import { CommandFailure } from '../terminal/command-failure.js'
import { EXIT } from '../terminal/exit-codes.js'
import { chooseDatabaseUser, chooseReachableDirectory, type DatabaseUser } from './embedded/database-user.js'
import { findFreePort } from './embedded/free-port.js'
import { launchPostgres, type RunningPostgres } from './embedded/launch-postgres.js'
import { stopOrphan } from './embedded/orphan.js'
import { locatePostgresBinaries, type PostgresBinaries } from './embedded/postgres-binaries.js'
import { runToEnd } from './embedded/run-to-end.js'

export type EmbeddedDatabaseOptions = {
  /** The cluster's own directory, e.g. `.counterfoil/postgres`. Made when missing, kept when there. */
  readonly dataDir: string
  /** Preferred port; a busy one is replaced by a free one, and `notices` says so. */
  readonly port?: number
}

export type EmbeddedDatabase = {
  /** Of the database `counterfoil`, with its password: never print it. */
  readonly url: string
  readonly port: number
  /** Where the data really is: see `notices` when this is not the directory that was asked for. */
  readonly dataDir: string
  /** Sentences that a person should read: another port, another directory. */
  readonly notices: readonly string[]
  /** Fast and clean: open transactions are rolled back, what was committed stays. */
  readonly stop: () => Promise<void>
  /** `kill -9`, for tests. The next start recovers. */
  readonly kill: () => Promise<void>
}

const DATABASE = 'counterfoil'
const PREFERRED_PORT = 54320

/**
 * Starts a PostgreSQL of its own for this directory, on 127.0.0.1 only, with default durability.
 * Works as root too: the server then runs as an unprivileged user that owns the data.
 *
 * Ends the command with one clear sentence when it can't: no binaries for this platform, a directory of somebody
 * else's, another start of the same directory that is still alive.
 */
export async function startEmbeddedDatabase(options: EmbeddedDatabaseOptions): Promise<EmbeddedDatabase> {
  try {
    return await startCluster(options)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code !== 'EACCES' && code !== 'EPERM') throw error
    const what = `${resolve(options.dataDir)} belongs to another user`
    throw new CommandFailure(EXIT.unreachable, what, 'start as that user, or remove the directory')
  }
}

async function startCluster(options: EmbeddedDatabaseOptions): Promise<EmbeddedDatabase> {
  const notices: string[] = []
  const user = chooseDatabaseUser(options.dataDir)
  const dataDir = chooseReachableDirectory(options.dataDir, user, notices)
  const binaries = await locatePostgresBinaries(user)
  await stopOrphan(dataDir)
  const password = await ensureCluster(dataDir, binaries, user)
  const postgres = await launchOnFreePort(dataDir, binaries, user, options.port ?? PREFERRED_PORT, notices)
  const url = `postgres://postgres:${password}@127.0.0.1:${postgres.port}/${DATABASE}`
  await ensureDatabase(url)
  return { url, port: postgres.port, dataDir, notices, stop: postgres.stop, kill: postgres.kill }
}

/** Makes the cluster on the first start; a start that was killed half-way is made again. */
async function ensureCluster(dataDir: string, binaries: PostgresBinaries, user: DatabaseUser | null): Promise<string> {
  const passwordFile = `${dataDir}.password`
  const finished = `${dataDir}.ready`
  if (existsSync(finished)) return readFileSync(passwordFile, 'utf8').trim()

  rmSync(dataDir, { recursive: true, force: true })
  mkdirSync(dirname(dataDir), { recursive: true })
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const password = randomBytes(18).toString('base64url')
  rmSync(passwordFile, { force: true })
  writeFileSync(passwordFile, password, { mode: 0o600 })
  if (user !== null) {
    chownSync(dataDir, user.uid, user.gid)
    chownSync(passwordFile, user.uid, user.gid)
  }
  await runToEnd(
    binaries.initdb,
    [
      '-D',
      dataDir,
      '-U',
      'postgres',
      '-A',
      'scram-sha-256',
      `--pwfile=${passwordFile}`,
      '--no-locale',
      '-E',
      'UTF8',
      '-N',
    ],
    user,
  )
  writeFileSync(finished, '')
  return password
}

async function launchOnFreePort(
  dataDir: string,
  binaries: PostgresBinaries,
  user: DatabaseUser | null,
  preferred: number,
  notices: string[],
): Promise<RunningPostgres> {
  // Somebody may take the port between our look and the server's bind: look again, a few times.
  for (let round = 1; ; round += 1) {
    const port = await findFreePort(round === 1 ? preferred : 0)
    const launched = await launchPostgres(dataDir, binaries, user, port)
    if (launched.kind === 'running') {
      if (port !== preferred) notices.push(`Port ${preferred} is busy: PostgreSQL listens on ${port}.`)
      return launched.postgres
    }
    if (launched.kind === 'failed' && (!launched.retry || round === 5)) {
      throw new CommandFailure(EXIT.unreachable, `the embedded PostgreSQL did not start: ${launched.reason}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 300))
  }
}

async function ensureDatabase(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url.replace(/\/[^/]*$/, '/postgres') })
  await client.connect()
  try {
    const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE])
    if (found.rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`)
  } finally {
    await client.end()
  }
}
