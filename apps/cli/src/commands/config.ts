import { type ConfigProblem, checkOpenUse, error, type ResolvedConfig } from '@counterfoil/config'
import { findOpenDestinations, findOpenSources } from '@counterfoil/db'
import type { Registration } from '../program.js'
import { CommandFailure } from '../terminal/command-failure.js'
import { findConfigPath, openConfig } from '../terminal/open-service.js'
import { invalid, warn } from '../terminal/open-settings.js'
import type { Terminal } from '../terminal/terminal.js'
import { withDatabase } from '../terminal/with-database.js'

export const registerConfig: Registration = (program, terminal) => {
  const command = program.command('config').description('look at the configuration')

  command
    .command('check')
    .description('validate the whole configuration and list every problem at once')
    .option('--config <file>', 'another file than COUNTERFOIL_CONFIG (default ./counterfoil.config.ts)')
    .option('--database', 'fail when the database can not be asked whether open work is left behind')
    .action(async (options: { config?: string; database?: true }) => {
      const path = findConfigPath(terminal, options.config)
      const config = await openConfig(terminal, path, (problems) => {
        const demanded = problems.filter((problem) => problem.demanded === true)
        const rest = problems.filter((problem) => problem.demanded !== true)
        warn(terminal, rest)
        if (demanded.length === 0) return
        const asErrors = demanded.map(({ path: at, message }) => error(at, message))
        throw invalid('the configuration works, but leaves out what its owner has to say', asErrors)
      })
      const problems = await listLeftBehind(terminal, config, options.database === true)
      if (problems.length > 0) throw invalid('the configuration leaves open work behind', problems)
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

/** Asked wherever a database is set. Who checks a file far from one is told that this was left out. */
async function listLeftBehind(
  terminal: Terminal,
  config: ResolvedConfig,
  required: boolean,
): Promise<readonly ConfigProblem[]> {
  const { COUNTERFOIL_DATABASE_URL: url, COUNTERFOIL_DATABASE_URL_FILE: file } = terminal.env
  if (!required && !url && !file) return []
  try {
    return await withDatabase(terminal, { role: null }, async (opened) =>
      checkOpenUse(config, await findOpenSources(opened), await findOpenDestinations(opened)),
    )
  } catch (error) {
    if (required || !(error instanceof CommandFailure)) throw error
    terminal.err(`counterfoil: not checked whether open work is left behind: ${error.message}\n`)
    return []
  }
}
