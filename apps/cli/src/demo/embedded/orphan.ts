import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { CommandFailure } from '../../terminal/command-failure.js'
import { EXIT } from '../../terminal/exit-codes.js'
import { isAlive } from './process-life.js'

/**
 * A start that was killed with -9 may leave its server behind. `postmaster.pid` names it; it is stopped, so that this
 * start owns what it serves. A file whose process is gone is PostgreSQL's own to judge, and it recovers by itself.
 */
export async function stopOrphan(dataDir: string): Promise<void> {
  const ownerFile = `${dataDir}.owner`
  const owner = existsSync(ownerFile) ? Number(readFileSync(ownerFile, 'utf8')) : 0
  const pid = readServer(dataDir)
  if (pid === null || !serves(pid, dataDir)) return
  if (owner > 0 && owner !== process.pid && isAlive(owner)) {
    throw new CommandFailure(EXIT.conflict, `another start is already running here (process ${owner})`, 'stop it first')
  }
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    try {
      process.kill(pid, signal)
    } catch {
      return
    }
    for (let waited = 0; waited < 5000; waited += 50) {
      if (!isAlive(pid)) return
      await sleep(50)
    }
  }
}

function readServer(dataDir: string): number | null {
  try {
    const pid = Number(readFileSync(`${dataDir}/postmaster.pid`, 'utf8').split('\n')[0])
    return Number.isInteger(pid) && pid > 1 && isAlive(pid) ? pid : null
  } catch {
    return null
  }
}

/** Process ids are reused: only a server that was started for this very directory is ours to stop. */
function serves(pid: number, dataDir: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(dataDir)
  } catch {
    // No /proc on this system: the file is inside our own directory and the process is alive.
    return !existsSync('/proc/self')
  }
}
