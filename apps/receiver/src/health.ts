import { createServer, type Server } from 'node:http'
import express from 'express'

/** One reason to be ready or not, for people on the private port. */
export type HealthCheck = { readonly name: string; readonly ok: boolean; readonly detail: string }

/**
 * Probes on a private port. `/livez` touches nothing: a process that can answer is alive, whatever its database does.
 * `/readyz` says whether pushes should come here, with the reasons.
 */
export function createHealthServer(checkReadiness: () => Promise<readonly HealthCheck[]>): Server {
  const app = express()
  app.disable('x-powered-by')
  app.get('/livez', (_request, response) => {
    response.json({ status: 'alive' })
  })
  app.get('/readyz', async (_request, response) => {
    const checks = await checkReadiness()
    const ready = checks.every((check) => check.ok)
    response.status(ready ? 200 : 503).json({ status: ready ? 'ready' : 'not_ready', checks })
  })
  return createServer(app)
}
