import { findOpenDestinations } from '@counterfoil/db'
import type { Registration } from '../program.js'
import { CommandFailure } from '../terminal/command-failure.js'
import { EXIT } from '../terminal/exit-codes.js'
import { findConfigPath, openConfig } from '../terminal/open-service.js'
import { withDatabase } from '../terminal/with-database.js'

export const registerConfig: Registration = (program, terminal) => {
  const command = program.command('config').description('look at the configuration')

  command
    .command('check')
    .description('validate the whole configuration and list every problem at once')
    .option('--config <file>', 'another file than COUNTERFOIL_CONFIG (default ./counterfoil.config.ts)')
    .option('--database', 'also check that no destination with open entries was removed')
    .action(async (options: { config?: string; database?: true }) => {
      const config = await openConfig(terminal, findConfigPath(terminal, options.config))
      if (options.database) {
        const open = await withDatabase(terminal, { role: null }, findOpenDestinations)
        refuseRemoved(open.filter((name) => !config.destinations.has(name)))
      }
      terminal.out(
        `the configuration is valid: ${config.sources.size} sources, ${config.destinations.size} destinations, ` +
          `${config.transitions.size} transitions, ${config.operators.size} operators\n`,
      )
    })

  command
    .command('print')
    .description('print the resolved configuration as JSON, secrets redacted')
    .option('--config <file>', 'another file than COUNTERFOIL_CONFIG (default ./counterfoil.config.ts)')
    .action(async (options: { config?: string }) => {
      const config = await openConfig(terminal, findConfigPath(terminal, options.config))
      terminal.out(`${JSON.stringify(config.describe(), null, 2)}\n`)
    })
}

function refuseRemoved(removed: readonly string[]): void {
  if (removed.length === 0) return
  throw new CommandFailure(
    EXIT.usage,
    `these destinations still have open entries but are not configured: ${removed.join(', ')}`,
    'put them back until nothing is open, or settle their entries',
  )
}
