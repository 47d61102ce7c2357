import closeWithGrace from 'close-with-grace'
import type { Service } from './open-service.js'
import { reloadOnHangup } from './reload-on-hangup.js'
import type { Terminal } from './terminal.js'

/**
 * Keeps a server going until SIGTERM or SIGINT, then lets it drain for at most `graceMs` and ends the process with 0.
 * SIGHUP reloads secrets. A second signal, or a drain that takes too long, ends it at once with 1. Never returns.
 */
export function serveUntilStopped(terminal: Terminal, service: Service, stop: () => Promise<void>): Promise<never> {
  const { graceMs } = service.settings
  // From here on a first signal is ours: it must not end the process before it has drained.
  terminal.interrupted.throwIfAborted()
  const reloads = reloadOnHangup(terminal, service)
  closeWithGrace(
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
      await stop()
    },
  )
  return new Promise<never>(() => {})
}
