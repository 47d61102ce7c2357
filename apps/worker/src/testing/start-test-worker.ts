import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { DestinationContract } from '@counterfoil/core'
import { type ManagedProcess, manageProcess, until } from '@counterfoil/testkit'
import { pino } from 'pino'
import { type RunningWorker, startWorker } from '../start-worker.js'
import type { WorkerSettings } from '../worker-settings.js'

export type TestWorkerOptions = {
  readonly databaseUrl: string
  readonly destinations: readonly DestinationContract[]
  readonly settings?: Partial<WorkerSettings>
}

type Line = Readonly<Record<string, unknown>>

function makeSettings({ databaseUrl, settings }: TestWorkerOptions): WorkerSettings {
  return {
    databaseUrl,
    databasePool: 6,
    redisUrl: null,
    healthHost: '127.0.0.1',
    healthPort: 0,
    instance: `w-${Math.random().toString(36).slice(2)}`,
    graceMs: 5_000,
    pollMs: 500,
    ...settings,
  }
}

/** A worker in this process, with its log lines. */
export async function startTestWorker(options: TestWorkerOptions): Promise<RunningWorker & { lines: readonly Line[] }> {
  const lines: Line[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const destinations = new Map(options.destinations.map((contract) => [contract.name, contract]))
  const config = { sources: new Map(), transitions: new Map(), destinations }
  const worker = await startWorker({ settings: makeSettings(options), config, log })
  return { ...worker, lines }
}

/** A worker in a process of its own: it may be killed or frozen. */
export async function spawnTestWorker(options: TestWorkerOptions): Promise<ManagedProcess & { instance: string }> {
  const settings = makeSettings(options)
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href
  const entry = fileURLToPath(new URL('./worker-main.ts', import.meta.url))
  const args = [
    '--conditions=source',
    '--import',
    tsx,
    entry,
    JSON.stringify({ settings, destinations: options.destinations }),
  ]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], detached: true })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => {
    if (!output.includes('worker.started')) output += chunk.toString()
  })
  const managed = manageProcess(child)
  await until(() => output.includes('worker.started'), { timeoutMs: 20_000, what: 'the worker to start' })
  return { ...managed, instance: settings.instance }
}
