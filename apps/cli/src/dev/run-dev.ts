import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { migrateUp } from '@counterfoil/db'
import { findFreePort } from '../demo/embedded/free-port.js'
import { startEmbeddedDatabase } from '../demo/embedded-database.js'
import { guardChild } from '../demo/system/guard-child.js'
import { EXIT, type ExitCode } from '../terminal/exit-codes.js'
import { findConfigPath, openConfig } from '../terminal/open-service.js'
import type { Terminal } from '../terminal/terminal.js'
import { withDatabase } from '../terminal/with-database.js'

const MAIN = fileURLToPath(new URL('../main.js', import.meta.url))
const DATA_DIRECTORY = '.counterfoil/dev/postgres'

/** Longest drain of both services before they are killed, ms: their own grace and a little more. */
const STOP_MS = 15_000

type Role = 'receiver' | 'worker'
type Service = { readonly role: Role; readonly child: ChildProcess; readonly ended: Promise<unknown> }

/**
 * Receiver and worker, each a process of its own, on the configured database or on an embedded one that is kept under
 * `.counterfoil/`. Goes on until Ctrl-C, or until one of the two ends.
 */
export async function runDev(terminal: Terminal): Promise<ExitCode> {
  terminal.interrupted.throwIfAborted()
  // A wrong configuration is said once, before anything starts.
  await openConfig(terminal, findConfigPath(terminal, undefined))
  const database = await openDevDatabase(terminal)
  try {
    await withDatabase(database.terminal, { role: null }, (opened) => migrateUp(opened))
    return await runServices(database.terminal)
  } finally {
    await database.stop()
  }
}

async function openDevDatabase(terminal: Terminal): Promise<{ terminal: Terminal; stop: () => Promise<void> }> {
  if (terminal.env.COUNTERFOIL_DATABASE_URL || terminal.env.COUNTERFOIL_DATABASE_URL_FILE) {
    return { terminal, stop: async () => {} }
  }
  const embedded = await startEmbeddedDatabase({ dataDir: DATA_DIRECTORY })
  terminal.err(`embedded PostgreSQL on port ${embedded.port}, data in ${embedded.dataDir}\n`)
  for (const notice of embedded.notices) terminal.err(`${notice}\n`)
  return {
    terminal: { ...terminal, env: { ...terminal.env, COUNTERFOIL_DATABASE_URL: embedded.url } },
    stop: embedded.stop,
  }
}

async function runServices(terminal: Terminal): Promise<ExitCode> {
  const { receiver, worker, health } = await choosePorts(terminal)
  const services = [
    startService(terminal, 'receiver', { COUNTERFOIL_PORT: receiver, COUNTERFOIL_HEALTH_PORT: health }),
    startService(terminal, 'worker', { COUNTERFOIL_HEALTH_PORT: worker }),
  ]
  const stopped = new Promise<'stop'>((resolve) => {
    if (terminal.interrupted.aborted) resolve('stop')
    terminal.interrupted.addEventListener('abort', () => resolve('stop'), { once: true })
  })
  const first = await Promise.race([stopped, ...services.map(({ role, ended }) => ended.then(() => role))])
  for (const { child } of services) child.kill('SIGTERM')
  const timer = setTimeout(() => {
    for (const { child } of services) child.kill('SIGKILL')
  }, STOP_MS)
  await Promise.all(services.map(({ ended }) => ended))
  clearTimeout(timer)
  if (first === 'stop') return EXIT.ok
  const code = services.find(({ role }) => role === first)?.child.exitCode
  terminal.err(`counterfoil: the ${first} ended by itself, so everything was stopped\n`)
  return code === EXIT.usage || code === EXIT.unreachable ? code : EXIT.failure
}

/** The usual ports, or free ones where somebody has them; said, because a push has to find them. */
async function choosePorts(terminal: Terminal): Promise<{ receiver: string; health: string; worker: string }> {
  const wanted = (variable: string, usual: number) => Number(terminal.env[variable] || usual)
  const receiver = String(await findFreePort(wanted('COUNTERFOIL_PORT', 8080)))
  const health = String(await findFreePort(wanted('COUNTERFOIL_HEALTH_PORT', 8081)))
  const worker = String(await findFreePort(8082))
  terminal.err(`receiver on port ${receiver}; health of the receiver on ${health}, of the worker on ${worker}\n`)
  return { receiver, health, worker }
}

/** In a session of its own, so that Ctrl-C reaches only us and each is told once; it ends with us even at kill -9. */
function startService(terminal: Terminal, role: Role, ports: Readonly<Record<string, string>>): Service {
  const env = { ...terminal.env, ...ports }
  const child = spawn(process.execPath, [MAIN, role], { env, detached: true, stdio: ['ignore', 'inherit', 'inherit'] })
  guardChild(child, 'TERM')
  return { role, child, ended: Promise.race([once(child, 'exit'), once(child, 'error')]) }
}
