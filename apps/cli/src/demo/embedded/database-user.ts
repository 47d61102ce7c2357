import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, lstatSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { CommandFailure } from '../../terminal/command-failure.js'
import { EXIT } from '../../terminal/exit-codes.js'

/** Whom the server runs as. PostgreSQL refuses to run as root. */
export type DatabaseUser = { readonly uid: number; readonly gid: number }

/** `null`: as ourselves. Only root has to choose; the owner of existing data goes first. */
export function chooseDatabaseUser(dataDir: string): DatabaseUser | null {
  if (process.getuid?.() !== 0) return null
  const accounts = readAccounts()
  if (existsSync(dataDir)) {
    const owner = statSync(dataDir)
    if (owner.uid !== 0 && accounts.some((account) => account.uid === owner.uid)) {
      return { uid: owner.uid, gid: owner.gid }
    }
  }
  // initdb looks its user up by name, so a bare number won't do.
  const found = ['postgres', 'nobody'].flatMap((name) => accounts.filter((account) => account.name === name))[0]
  if (found === undefined) {
    throw new CommandFailure(
      EXIT.unreachable,
      'PostgreSQL does not run as root, and this system has neither a user postgres nor a user nobody',
      'start as another user',
    )
  }
  return { uid: found.uid, gid: found.gid }
}

/**
 * The wanted directory where the user can reach it, else a directory of this project's own in the system's temporary
 * directory. A parent such as /root (0700) shuts every other user out, whoever owns the data.
 */
export function chooseReachableDirectory(wanted: string, user: DatabaseUser | null, notices: string[]): string {
  const dataDir = resolve(wanted)
  const parent = dirname(dataDir)
  mkdirSync(parent, { recursive: true })
  if (user === null || canEnter(parent, user)) return dataDir

  const project = createHash('sha256').update(dataDir).digest('hex').slice(0, 12)
  const instead = join(tmpdir(), `counterfoil-${project}`)
  mkdirSync(instead, { recursive: true, mode: 0o755 })
  const made = lstatSync(instead)
  if (!made.isDirectory() || made.uid !== 0) {
    throw new CommandFailure(
      EXIT.unreachable,
      `${instead} belongs to somebody else`,
      'remove it, or start from another directory',
    )
  }
  notices.push(`PostgreSQL does not run as root and its user can't enter ${parent}: the data is in ${instead}.`)
  return join(instead, basename(dataDir))
}

/** Asks the system itself, so that access lists count too. */
export function canEnter(directory: string, user: DatabaseUser): boolean {
  return spawnSync('/bin/sh', ['-c', 'cd "$0"', directory], { ...user, cwd: '/', stdio: 'ignore' }).status === 0
}

function readAccounts(): { name: string; uid: number; gid: number }[] {
  return readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .filter((fields) => fields.length >= 4)
    .map(([name = '', , uid = '', gid = '']) => ({ name, uid: Number(uid), gid: Number(gid) }))
    .filter((account) => account.uid > 0 && Number.isInteger(account.uid))
}
