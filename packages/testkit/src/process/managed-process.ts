import type { ChildProcess } from 'node:child_process'
import { guardProcess } from './guard-process.js'

export type ExitStatus = { readonly code: number | null; readonly signal: NodeJS.Signals | null }

/** A process that a test may treat badly. It does not outlive the test process. */
export type ManagedProcess = {
  readonly pid: number
  /** Resolves when the process has ended and its output is read. */
  readonly ended: Promise<ExitStatus>
  readonly isRunning: () => boolean
  readonly kill9: () => Promise<ExitStatus>
  /** Sends SIGTERM; after `graceMs` (default 20,000) KILL, which the status then shows. */
  readonly terminate: (graceMs?: number) => Promise<ExitStatus>
  readonly signal: (signal: NodeJS.Signals) => void
  /** SIGSTOP: connections stay open and nobody answers. */
  readonly pause: () => void
  readonly resume: () => void
}

/** Wraps a freshly spawned child. `directory` is removed when this process dies before the child. */
export function manageProcess(child: ChildProcess, directory = ''): ManagedProcess {
  const guard = guardProcess(child, 'TERM', directory)
  const ended = new Promise<ExitStatus>((resolve) => {
    child.once('error', () => resolve({ code: null, signal: null }))
    child.once('close', (code, signal) => resolve({ code, signal }))
  })
  void ended.then(guard.release)
  const signal = (name: NodeJS.Signals) => {
    child.kill(name)
  }
  return {
    pid: child.pid ?? 0,
    ended,
    isRunning: () => child.exitCode === null && child.signalCode === null && child.pid !== undefined,
    kill9: () => {
      signal('SIGKILL')
      return ended
    },
    terminate: async (graceMs = 20_000) => {
      // A stopped process would keep SIGTERM pending.
      signal('SIGCONT')
      signal('SIGTERM')
      const timer = setTimeout(() => signal('SIGKILL'), graceMs)
      const status = await ended
      clearTimeout(timer)
      return status
    },
    signal,
    pause: () => signal('SIGSTOP'),
    resume: () => signal('SIGCONT'),
  }
}
