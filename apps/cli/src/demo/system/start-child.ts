import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { guardChild } from './guard-child.js'

export type ChildOptions = {
  readonly name: string
  /** Arguments of Node: options, the script, its arguments. */
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** What it prints is kept in `<logDir>/<name>.log`. */
  readonly logDir: string
  /** It says one line on stdout when it is ready: read it instead of keeping stdout in the log. */
  readonly announces: boolean
}

export type RunningChild = {
  readonly name: string
  readonly pid: number
  /** What it announced, or `null` when it ended before that. */
  readonly firstLine: Promise<string | null>
  readonly isRunning: () => boolean
  /** SIGTERM, then SIGKILL after `graceMs`. */
  readonly stop: (graceMs?: number) => Promise<void>
  readonly kill: () => Promise<void>
}

/**
 * Starts a process of the demo in a session of its own: Ctrl-C in the terminal reaches only us, and we stop the
 * children in order. It ends with us even when we are killed.
 */
export function startChild(options: ChildOptions): RunningChild {
  mkdirSync(options.logDir, { recursive: true })
  const log = openSync(join(options.logDir, `${options.name}.log`), 'a')
  const child = spawn(process.execPath, [...options.args], {
    env: { ...inherited(), ...options.env },
    detached: true,
    stdio: ['ignore', options.announces ? 'pipe' : log, log],
  })
  closeSync(log)
  guardChild(child, 'TERM')
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
    child.once('error', () => resolve())
  })
  return {
    name: options.name,
    pid: child.pid ?? 0,
    firstLine: readFirstLine(child, ended),
    isRunning: () => child.exitCode === null && child.signalCode === null,
    stop: async (graceMs = 12_000) => {
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), graceMs)
      await ended
      clearTimeout(timer)
    },
    kill: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** Only what a process needs to run: a setting of the caller's shell must not change the demo. */
function inherited(): Record<string, string> {
  const kept = ['PATH', 'HOME', 'TMPDIR', 'TEMP', 'TMP', 'SystemRoot', 'LANG', 'LC_ALL']
  return Object.fromEntries(
    kept.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  )
}

function readFirstLine(child: ChildProcess, ended: Promise<void>): Promise<string | null> {
  return new Promise((resolve) => {
    let said = ''
    child.stdout?.on('data', (chunk: Buffer) => {
      if (said.includes('\n')) return
      said += chunk.toString('utf8')
      const end = said.indexOf('\n')
      if (end >= 0) resolve(said.slice(0, end))
    })
    void ended.then(() => resolve(null))
  })
}
