import { spawn, spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findFreePort } from '../process/find-free-port.js'
import { type ManagedProcess, manageProcess } from '../process/managed-process.js'
import { sendRedisCommand } from './send-redis-command.js'

export type RedisServer = {
  readonly port: number
  readonly url: string
  readonly pid: () => number | null
  readonly kill9: () => Promise<void>
  readonly pause: () => void
  readonly resume: () => void
  /** Starts it again on the same port; empty unless the settings ask for persistence. */
  readonly start: () => Promise<void>
  /** Ends it in order and starts it again. */
  readonly restart: () => Promise<void>
  /** FLUSHALL. */
  readonly flush: () => Promise<void>
  /** Ends it for good and removes its directory. */
  readonly close: () => Promise<void>
}

export type RedisOptions = {
  /** Default: a free one. */
  readonly port?: number
  /** e.g. `{ appendonly: 'yes' }`. Nothing is persisted unless said so here. */
  readonly settings?: Readonly<Record<string, string>>
}

/** Is the program `redis-server` on this machine? Tests that need it run only where it is. */
export function hasRedisServer(): boolean {
  return spawnSync('redis-server', ['--version'], { stdio: 'ignore' }).status === 0
}

/** Starts a Redis of the test's own on 127.0.0.1, in a temporary directory. */
export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const directory = await mkdtemp(join(tmpdir(), 'counterfoil-redis-'))
  const port = options.port ?? (await findFreePort())
  const settings = { save: '', appendonly: 'no', ...options.settings }
  const launch = () => launchRedis(directory, port, settings)
  let server: ManagedProcess | null = await launch()
  const end = async (how: (process: ManagedProcess) => Promise<unknown>) => {
    const ending = server
    server = null
    if (ending !== null) await how(ending)
  }
  const start = async () => {
    server ??= await launch()
  }
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    pid: () => server?.pid ?? null,
    kill9: () => end((process) => process.kill9()),
    pause: () => server?.pause(),
    resume: () => server?.resume(),
    start,
    restart: async () => {
      await end((process) => process.terminate())
      await start()
    },
    flush: () => sendRedisCommand(port, 'FLUSHALL'),
    close: async () => {
      await end((process) => process.kill9())
      await rm(directory, { recursive: true, force: true })
    },
  }
}

async function launchRedis(directory: string, port: number, settings: Readonly<Record<string, string>>) {
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', directory, '--daemonize', 'no']
  for (const [name, value] of Object.entries(settings)) args.push(`--${name}`, value)
  const child = spawn('redis-server', args, { cwd: '/', detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
  const managed = manageProcess(child, directory)
  let output = ''
  await new Promise<void>((resolve, reject) => {
    child.once('error', () => reject(new Error('redis-server is not on PATH: apt-get install redis-server')))
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-16_384)
      if (output.includes('Ready to accept connections')) resolve()
    })
    void managed.ended.then(() => reject(new Error(`redis-server did not start on port ${port}:\n${output}`)))
  })
  return managed
}
