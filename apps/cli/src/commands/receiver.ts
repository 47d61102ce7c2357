import type { Registration } from '../program.js'
import { openService } from '../terminal/open-service.js'
import { serveUntilStopped } from '../terminal/serve-until-stopped.js'

export const registerReceiver: Registration = (program, terminal) => {
  program
    .command('receiver')
    .description('run the public HTTP process: verify, claim, answer')
    .action(async () => {
      const service = await openService(terminal, 'receiver')
      // Loaded here, so that `show` and the like don't pay for the servers' modules.
      const { startReceiver } = await import('@counterfoil/receiver')
      const running = await startReceiver(service)
      await serveUntilStopped(terminal, service, () => running.stop())
    })
}
