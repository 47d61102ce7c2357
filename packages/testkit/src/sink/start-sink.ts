import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type ManagedProcess, manageProcess } from '../process/managed-process.js'
import type { SinkEffect, SinkRequest, SinkSummary } from './sink-ledger.js'
import type { SinkDoor, SinkScript } from './sink-script.js'

export type Sink = {
  readonly port: number
  /** `http://127.0.0.1:<port>` with this path; default `/`. */
  readonly url: (path?: string) => string
  /** Replaces the script; what is absent falls back to its default, and rules count from 1 again. */
  readonly script: (script: Partial<SinkScript>) => Promise<void>
  readonly setDoor: (door: SinkDoor) => Promise<void>
  /** Counts only: cheap after any number of requests. */
  readonly summary: () => Promise<SinkSummary>
  readonly requests: () => Promise<readonly SinkRequest[]>
  readonly effects: () => Promise<readonly SinkEffect[]>
  /** Forgets requests, effects and known keys. */
  readonly clear: () => Promise<void>
  readonly pause: () => void
  readonly resume: () => void
  /** kill -9; its ledger is gone with it. */
  readonly kill: () => Promise<void>
}

export type SinkOptions = Partial<SinkScript> & { readonly port?: number }

/**
 * Starts a scriptable downstream in a process of its own, with its own ledger of what was asked and what was done:
 * the other side of the story, to hold ours against.
 */
export async function startSink(options: SinkOptions = {}): Promise<Sink> {
  const { port: wantedPort = 0, ...script } = options
  const child = spawn(process.execPath, [...findEntry(), String(wantedPort)], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const managed = manageProcess(child)
  const { port, controlPort } = await readPorts(child.stdout, managed)
  const ask = async (method: string, path: string, body?: object): Promise<string> => {
    // A connection each: an idle one may be closed by the sink while this process is busy elsewhere.
    const headers = { connection: 'close' }
    const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) }
    const response = await fetch(`http://127.0.0.1:${controlPort}${path}`, init)
    const answer = await response.text()
    if (!response.ok) throw new Error(`The sink answered ${method} ${path} with ${response.status}: ${answer}`)
    return answer
  }
  const askLines = async (path: string) =>
    (await ask('GET', path))
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  if (Object.keys(script).length > 0) await ask('PUT', '/script', script)
  return {
    port,
    url: (path = '/') => `http://127.0.0.1:${port}${path}`,
    script: async (next) => {
      await ask('PUT', '/script', next)
    },
    setDoor: async (door) => {
      await ask('PUT', '/door', { door })
    },
    summary: async () => JSON.parse(await ask('GET', '/summary')),
    requests: () => askLines('/requests'),
    effects: () => askLines('/effects'),
    clear: async () => {
      await ask('DELETE', '/ledger')
    },
    pause: managed.pause,
    resume: managed.resume,
    kill: async () => {
      await managed.kill9()
    },
  }
}

/** Arguments for node: the compiled entry beside this file, or its source through tsx when this file is a source. */
function findEntry(): readonly string[] {
  if (!import.meta.url.endsWith('.ts')) return [fileURLToPath(new URL('./sink-main.js', import.meta.url))]
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href
  return ['--import', tsx, fileURLToPath(new URL('./sink-main.ts', import.meta.url))]
}

async function readPorts(
  stdout: NodeJS.ReadableStream,
  managed: ManagedProcess,
): Promise<{ port: number; controlPort: number }> {
  return new Promise((resolve, reject) => {
    stdout.once('data', (line: Buffer) => resolve(JSON.parse(line.toString())))
    void managed.ended.then((status) => reject(new Error(`The sink ended at its start: ${JSON.stringify(status)}`)))
  })
}
