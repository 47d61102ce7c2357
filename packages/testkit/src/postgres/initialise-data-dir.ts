import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { PostgresBinaries } from './postgres-binaries.js'
import type { ServerUser } from './server-user.js'

// PostgreSQL ignores files it does not know in its directory, so the password lies beside the data it opens.
const PASSWORD_FILE = 'testkit-password'

/** Runs initdb unless `dataDir` is a cluster already, and returns the password of its superuser `postgres`. */
export async function initialiseDataDir(
  dataDir: string,
  binaries: PostgresBinaries,
  user: ServerUser | null,
): Promise<string> {
  const passwordFile = join(dataDir, PASSWORD_FILE)
  if (existsSync(join(dataDir, 'PG_VERSION'))) return readFile(passwordFile, 'utf8')
  const password = randomBytes(16).toString('hex')
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  if (user !== null) await chown(dataDir, user.uid, user.gid)
  // initdb wants an empty directory and a password file that the server's user may read: it moves in afterwards.
  const handover = `${dataDir}-${PASSWORD_FILE}`
  await writeFile(handover, password, { mode: 0o600, flag: 'wx' })
  if (user !== null) await chown(handover, user.uid, user.gid)
  try {
    await runInitdb(dataDir, binaries, user, handover)
  } catch (error) {
    await rm(handover, { force: true })
    throw error
  }
  await rename(handover, passwordFile)
  return password
}

function runInitdb(dataDir: string, binaries: PostgresBinaries, user: ServerUser | null, pwfile: string) {
  const args = ['--pgdata', dataDir, '--username', 'postgres', '--auth', 'scram-sha-256', '--pwfile', pwfile]
  // --no-sync: a cluster that loses power before its first test is made again.
  args.push('--no-locale', '--encoding', 'UTF8', '--no-sync', '--no-instructions')
  return new Promise<void>((resolve, reject) => {
    const child = spawn(binaries.initdb, args, { ...user, cwd: '/', stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    }
    child.once('error', reject)
    child.once('close', (code) => {
      if (code === 0) resolve()
      else reject(new Error(`initdb of ${dataDir} ended with ${code}:\n${output}`))
    })
  })
}
