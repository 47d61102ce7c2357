import type { Registration } from '../program.js'
import { openService } from '../terminal/open-service.js'
import { serveUntilStopped } from '../terminal/serve-until-stopped.js'

export const registerWorker: Registration = (program, terminal) => {
  program
    .command('worker')
    .description('run a worker: lease, attempt, record, sweep')
    .action(async () => {
      const service = await openService(terminal, 'worker')
      const { startWorker } = await import('@counterfoil/worker')
      const running = await startWorker(service)
      await serveUntilStopped(terminal, service, () => running.stop())
    })
}
