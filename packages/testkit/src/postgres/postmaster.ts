import { type ChildProcess, spawn } from 'node:child_process'
import { guardProcess } from '../process/guard-process.js'
import { listChildren } from '../process/list-children.js'
import type { PostgresBinaries } from './postgres-binaries.js'
import type { ServerUser } from './server-user.js'

export type Postmaster = {
  readonly pid: number
  readonly port: number
  readonly log: () => string
  readonly end: (signal: NodeJS.Signals) => Promise<void>
  readonly pause: () => void
  readonly resume: () => void
}

export type PostmasterOptions = {
  readonly binaries: PostgresBinaries
  readonly user: ServerUser | null
  readonly dataDir: string
  readonly port: number
  readonly settings: Readonly<Record<string, string>>
  /** Removed when this process dies without cleaning up; empty for none. */
  readonly ownDirectory: string
}

const LOG_LIMIT = 65_536

/** Starts the server process on an initialised directory; resolves when it accepts connections. */
export async function launchPostmaster(options: PostmasterOptions): Promise<Postmaster> {
  const { dataDir, port, settings } = options
  const args = ['-D', dataDir, '-p', String(port), '-h', '127.0.0.1', '-k', '']
  for (const [name, value] of Object.entries(settings)) args.push('-c', `${name}=${value}`)
  // A session of its own: Ctrl-C in the terminal must reach the test run, which then ends the server in order.
  const child = spawn(options.binaries.postgres, args, {
    ...options.user,
    cwd: '/',
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const guard = guardProcess(child, 'QUIT', options.ownDirectory)
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  void ended.then(guard.release)
  const log = collectLog(child)
  await waitForReady(child, log, ended, port)
  // Leaving the pipe open must not keep a finished test run alive.
  child.unref()
  const pid = child.pid ?? 0
  return {
    pid,
    port,
    log: log.text,
    end: async (signal) => {
      child.ref()
      // With KILL all of them die at once: a backend in the middle of a statement would outlive its postmaster, and
      // keep the next one from starting. Any other signal must find them awake.
      if (signal === 'SIGKILL') signalAll(pid, 'SIGKILL')
      else {
        signalAll(pid, 'SIGCONT')
        child.kill(signal)
      }
      // The backends hold the log pipe too, so this waits for the last of them.
      await ended
    },
    pause: () => signalAll(pid, 'SIGSTOP'),
    resume: () => signalAll(pid, 'SIGCONT'),
  }
}

type Log = { readonly text: () => string; readonly onText: (listener: () => void) => void }

function collectLog(child: ChildProcess): Log {
  let text = ''
  let listener = () => {}
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    text = (text + chunk).slice(-LOG_LIMIT)
    listener()
  })
  return {
    text: () => text,
    onText: (next) => {
      listener = next
    },
  }
}

function waitForReady(child: ChildProcess, log: Log, ended: Promise<void>, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    log.onText(() => {
      if (!log.text().includes('database system is ready to accept connections')) return
      log.onText(() => {})
      resolve()
    })
    void ended.then(() => reject(new Error(`PostgreSQL did not start on port ${port}:\n${log.text()}`)))
  })
}

// The children are listed while they still have this parent; the postmaster goes first, so that it starts nobody new.
function signalAll(pid: number, signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): void {
  for (const target of [pid, ...listChildren(pid)]) {
    try {
      process.kill(target, signal)
    } catch {
      // It has ended in the meantime.
    }
  }
}
