import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { CommandFailure } from '../../terminal/command-failure.js'
import { EXIT } from '../../terminal/exit-codes.js'
import { findFreePort } from '../embedded/free-port.js'
import { CLI_MAIN, type DemoFiles, SKEW_CLOCK } from './demo-files.js'
import { type RunningChild, startChild } from './start-child.js'
import { waitUntil } from './wait-until.js'

/** A receiver or worker of the demo, and the port it can be asked on whether it is ready. */
export type DemoService = RunningChild & { readonly port: number; readonly healthPort: number }

/** Generous: a laptop that does ten other things starts a process in seconds, not in milliseconds. */
const READY_WITHIN_MS = 60_000

/** Starts receivers and workers as an operator does: `counterfoil receiver`, `counterfoil worker`. */
export function createServices(
  files: DemoFiles,
  variables: Readonly<Record<string, string>>,
  databaseUrl: string,
  wireAddress: string,
  receiverPort: number,
) {
  let started = 0
  const start = async (role: 'receiver' | 'worker', port: number, skewMs: number): Promise<DemoService> => {
    started += 1
    const healthPort = await findFreePort(0)
    const name = skewMs === 0 ? role : `${role}-${skewMs > 0 ? 'ahead' : 'behind'}`
    const child = startChild({
      name,
      args: [...(skewMs === 0 ? [] : ['--import', pathToFileURL(SKEW_CLOCK).href]), CLI_MAIN, role],
      env: {
        ...variables,
        // Only the receiver goes through the wire that the story breaks.
        COUNTERFOIL_DATABASE_URL:
          role === 'receiver' ? databaseUrl.replace(/127\.0\.0\.1:\d+/, wireAddress) : databaseUrl,
        COUNTERFOIL_PORT: String(port),
        COUNTERFOIL_HEALTH_PORT: String(healthPort),
        COUNTERFOIL_SPOOL_DIR: join(files.spool, name),
        COUNTERFOIL_INSTANCE: `demo-${name}-${process.pid}-${started}`,
        COUNTERFOIL_POLL_MS: '250',
        DEMO_CLOCK_SKEW_MS: String(skewMs),
      },
      logDir: files.logs,
      announces: false,
    })
    return { ...child, port, healthPort }
  }
  const startReady = async (role: 'receiver' | 'worker', port: number): Promise<DemoService> => {
    const service = await start(role, port, 0)
    const log = join(files.logs, `${role}.log`)
    const probe = async () => {
      if (service.isRunning()) return isReady(service.healthPort)
      throw new CommandFailure(EXIT.unreachable, `the ${role} did not start`, `look into ${log}`)
    }
    await waitUntil(`the ${role} is ready (its log: ${log})`, probe, READY_WITHIN_MS)
    return service
  }
  return {
    startReceiver: () => startReady('receiver', receiverPort),
    startWorker: () => startReady('worker', 0),
    startSkewed: async (role: 'receiver' | 'worker', skewMs: number) => {
      const service = await start(role, await findFreePort(0), skewMs)
      await waitUntil(
        `the skewed ${role} is alive`,
        () => answers(`http://127.0.0.1:${service.healthPort}/livez`),
        READY_WITHIN_MS,
      )
      return service
    },
  }
}

function isReady(healthPort: number): Promise<boolean> {
  return answers(`http://127.0.0.1:${healthPort}/readyz`)
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(1000) })
    await response.arrayBuffer()
    return response.ok
  } catch {
    return false
  }
}
