import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { WorkerStartRefused } from '../worker-start-refused.js'

export type HealthProbes = {
  /** Age of the oldest turn among the drainers, ms. */
  readonly tickAgeMs: () => number
  /** Why this worker is not ready; empty when it is. */
  readonly problems: () => Promise<readonly string[]>
}

/** A loop that has not turned for this long is stuck: the process should be replaced. */
const STUCK_MS = 60_000

/** Probes on a private port. `/livez` asks no dependency: a database that is away is no reason to restart a worker. */
export function createHealthServer(probes: HealthProbes): Server {
  const app = express()
  app.disable('x-powered-by')
  app.get('/livez', (_request, response) => {
    const tickAgeMs = Math.round(probes.tickAgeMs())
    const isAlive = tickAgeMs < STUCK_MS
    response.status(isAlive ? 200 : 503).json({ status: isAlive ? 'alive' : 'stuck', tickAgeMs })
  })
  app.get('/readyz', async (_request, response) => {
    const problems = await probes.problems()
    response
      .status(problems.length === 0 ? 200 : 503)
      .json({ status: problems.length === 0 ? 'ready' : 'not_ready', problems })
  })
  return createServer(app)
}

/** Resolves with the port taken. Throws `WorkerStartRefused` with what to change when it can't be had. */
export function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const sentence = `The probes can't be served on ${host}:${port} (${error.code}). Set COUNTERFOIL_HEALTH_HOST and COUNTERFOIL_HEALTH_PORT to a free address of this machine.`
      reject(new WorkerStartRefused([sentence], 2))
    })
    server.listen(port, host, () => {
      server.removeAllListeners('error')
      server.on('error', () => {})
      resolve((server.address() as AddressInfo).port)
    })
  })
}
