import type { Registration } from '../program.js'
import { openService } from '../terminal/open-service.js'
import { serveUntilStopped } from '../terminal/serve-until-stopped.js'

export const registerWorker: Registration = (program, terminal) => {
  program
    .command('worker')
    .description('run a worker: lease, attempt, record, sweep')
    .action(async () => {
      const { settings, config, log } = await openService(terminal, 'worker')
      const { startWorker } = await import('@counterfoil/worker')
      const running = await startWorker({ settings, config, log })
      await serveUntilStopped(terminal, settings.graceMs, () => running.stop())
    })
}
