import { type ChildProcess, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { platform } from 'node:os'
import { guardChild } from '../system/guard-child.js'
import type { DatabaseUser } from './database-user.js'
import type { PostgresBinaries } from './postgres-binaries.js'

export type RunningPostgres = {
  readonly port: number
  readonly stop: () => Promise<void>
  readonly kill: () => Promise<void>
}

export type Launched =
  | { readonly kind: 'running'; readonly postgres: RunningPostgres }
  /** `retry`: the port was taken meanwhile, or the last server's memory is still held for a moment. */
  | { readonly kind: 'failed'; readonly reason: string; readonly retry: boolean }

/** Room for receiver, worker, the queue's pools and several commands at once. */
const MAX_CONNECTIONS = 200

/** Starts the server and resolves when it takes connections, or when it gave up. */
export function launchPostgres(
  dataDir: string,
  binaries: PostgresBinaries,
  user: DatabaseUser | null,
  port: number,
): Promise<Launched> {
  const args = [
    '-D',
    dataDir,
    '-p',
    String(port),
    '-h',
    '127.0.0.1',
    '-k',
    '',
    '-c',
    `max_connections=${MAX_CONNECTIONS}`,
  ]
  // A session of its own: Ctrl-C in the terminal must reach us first, so that the apps stop before their database.
  const child = spawn(binaries.postgres, args, {
    ...user,
    cwd: '/',
    detached: platform() !== 'win32',
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
  })
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve())
    child.once('error', () => resolve())
  })
  return new Promise((resolve) => {
    let said = ''
    child.stderr.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString('utf8')).slice(-4000)
      if (!said.includes('ready to accept connections')) return
      child.stderr.removeAllListeners('data')
      child.stderr.resume()
      writeFileSync(`${dataDir}.owner`, String(process.pid))
      resolve({ kind: 'running', postgres: controlPostgres(child, ended, port) })
    })
    void ended.then(() => {
      const fatal = said.split('\n').find((line) => line.includes('FATAL')) ?? said.trim().split('\n').at(-1) ?? ''
      resolve({
        kind: 'failed',
        reason: fatal.replace(/^.*FATAL:\s*/, ''),
        retry: /could not create any TCP\/IP|still in use|Address already in use/.test(said),
      })
    })
  })
}

function controlPostgres(child: ChildProcess, ended: Promise<void>, port: number): RunningPostgres {
  const guard = guardChild(child, 'INT')
  const end = async (signals: readonly NodeJS.Signals[]) => {
    guard.release()
    for (const signal of signals) {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill(signal)
      await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 5000).unref())])
    }
  }
  return {
    port,
    // SIGINT is PostgreSQL's fast stop, SIGQUIT its immediate one.
    stop: () => end(['SIGINT', 'SIGQUIT', 'SIGKILL']),
    kill: () => end(['SIGKILL']),
  }
}
