import { checkOpenUse } from '@counterfoil/config'
import { findOpenDestinations, findOpenSources } from '@counterfoil/db'
import type { Registration } from '../program.js'
import { findConfigPath, openConfig } from '../terminal/open-service.js'
import { invalid, warn } from '../terminal/open-settings.js'
import { withDatabase } from '../terminal/with-database.js'

export const registerConfig: Registration = (program, terminal) => {
  const command = program.command('config').description('look at the configuration')

  command
    .command('check')
    .description('validate the whole configuration and list every problem at once')
    .option('--config <file>', 'another file than COUNTERFOIL_CONFIG (default ./counterfoil.config.ts)')
    .option('--database', 'also check that no source or destination with open work was removed')
    .action(async (options: { config?: string; database?: true }) => {
      const path = findConfigPath(terminal, options.config)
      const config = await openConfig(terminal, path, (problems) => warn(terminal, problems))
      if (options.database) {
        const open = await withDatabase(terminal, { role: null }, async (opened) => ({
          sources: await findOpenSources(opened),
          destinations: await findOpenDestinations(opened),
        }))
        const problems = checkOpenUse(config, open.sources, open.destinations)
        if (problems.length > 0) throw invalid('the configuration leaves open work behind', problems)
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
