import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { type ManagedProcess, manageProcess } from '../process/managed-process.js'
import { until } from '../process/until.js'

export type LogLine = { readonly [field: string]: unknown }

export type AppProcess = ManagedProcess & {
  /** Lines that were JSON objects, from both outputs, in order of arrival. */
  readonly lines: readonly LogLine[]
  readonly stdout: () => string
  readonly stderr: () => string
  /** Resolves with the first line, past or future, for which `matches` holds; fails when the process ends before. */
  readonly waitForLog: (matches: (line: LogLine) => boolean, timeoutMs?: number) => Promise<LogLine>
  /** Waits until `GET /readyz` on the health port answers 200. */
  readonly waitReady: (timeoutMs?: number) => Promise<void>
}

export type AppOptions = {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Default: `COUNTERFOIL_HEALTH_PORT` of `env`. */
  readonly healthPort?: number
  /** What to run, default the built `counterfoil` program. */
  readonly script?: string
}

const MAIN = fileURLToPath(new URL('../../../../apps/cli/dist/main.js', import.meta.url))

/**
 * Runs the built program (`npm run build` first) as a real process of its own.
 *
 * It gets PATH and HOME of this process and what `env` says, nothing else, so that no setting leaks into a test.
 */
export function spawnApp(args: readonly string[], options: AppOptions = {}): AppProcess {
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(process.execPath, ['--enable-source-maps', options.script ?? MAIN, ...args], {
    cwd: options.cwd,
    env: { PATH, HOME, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const managed = manageProcess(child)
  // Set once the outputs are read to their end, which is later than the exit.
  let hasEnded = false
  void managed.ended.then(() => {
    hasEnded = true
  })
  const lines: LogLine[] = []
  const stdout = collectOutput(child.stdout, lines)
  const stderr = collectOutput(child.stderr, lines)
  const healthPort = options.healthPort ?? Number(options.env?.COUNTERFOIL_HEALTH_PORT)

  const whileRunning = <T>(what: string, timeoutMs: number, check: () => T | Promise<T>) =>
    until(
      async () => {
        const value = await check()
        return value ? { value } : hasEnded ? 'ended' : null
      },
      { timeoutMs, what },
    ).then((found) => {
      if (found !== 'ended') return found.value
      throw new Error(`\`${args.join(' ')}\` ended while waiting for ${what}:\n${stdout()}${stderr()}`)
    })

  return {
    ...managed,
    lines,
    stdout,
    stderr,
    waitForLog: async (matches, timeoutMs = 20_000) => {
      let seen = 0
      let found: LogLine | undefined
      await whileRunning(`a log line with ${matches}`, timeoutMs, () => {
        while (found === undefined && seen < lines.length) {
          const line = lines[seen]
          seen += 1
          if (line !== undefined && matches(line)) found = line
        }
        return found
      })
      return found ?? {}
    },
    waitReady: async (timeoutMs = 20_000) => {
      await whileRunning(`/readyz on port ${healthPort}`, timeoutMs, () => isReady(healthPort))
    },
  }
}

function collectOutput(stream: NodeJS.ReadableStream, lines: LogLine[]): () => string {
  let text = ''
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('data', (chunk: string) => {
    text += chunk
    const parts = (rest + chunk).split('\n')
    rest = parts.pop() ?? ''
    for (const part of parts) if (part.startsWith('{')) addLine(part, lines)
  })
  return () => text
}

function addLine(text: string, lines: LogLine[]): void {
  try {
    lines.push(JSON.parse(text))
  } catch {
    // Not a log line: it stays readable in the text.
  }
}

async function isReady(port: number): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(2_000) })
    await response.arrayBuffer()
    return response.status === 200
  } catch {
    return false
  }
}
