import closeWithGrace from 'close-with-grace'
import type { Service } from './open-service.js'
import { reloadOnHangup } from './reload-on-hangup.js'
import type { Terminal } from './terminal.js'

export type Running = { readonly stop: () => Promise<void> }

/**
 * Starts a server and keeps it going until SIGTERM or SIGINT, then lets it drain for at most `graceMs` and ends the
 * process with 0. SIGHUP reloads secrets. A second signal, or a drain that takes too long, ends it at once with 1.
 * Never returns; throws what `start` throws.
 *
 * Signals are ours before the start: a worker may hold leases before everything of it is up, and one that was ended
 * then left them to run out, as attempts of which nobody knows.
 */
export async function serveUntilStopped(
  terminal: Terminal,
  service: Service,
  start: (service: Service) => Promise<Running>,
): Promise<never> {
  const { graceMs } = service.settings
  terminal.interrupted.throwIfAborted()
  const reloads = reloadOnHangup(terminal, service)
  const started = start(service)
  const { uninstall } = closeWithGrace(
    {
      delay: graceMs,
      logger: false,
      // A server that has nothing to wait for is broken, not finished.
      skip: reloads === null ? ['beforeExit'] : ['beforeExit', reloads],
      onTimeout: (delay) => terminal.err(`counterfoil: still not drained after ${delay} ms: ending now\n`),
      onSecondSignal: (signal) => terminal.err(`counterfoil: second ${signal}: ending now\n`),
    },
    async ({ err, signal }) => {
      if (err) terminal.err(`counterfoil: ${err.stack ?? err.message}\n`)
      else terminal.err(`counterfoil: ${signal ?? 'stop'}: draining (again to end at once)\n`)
      const running = await started
      await running.stop()
    },
  )
  try {
    await started
  } catch (error) {
    uninstall()
    throw error
  }
  return new Promise<never>(() => {})
}
