import type { Registration } from '../program.js'

export const registerDev: Registration = (program, terminal, exit) => {
  program
    .command('dev')
    .description('run receiver and worker together, on an embedded PostgreSQL where no database is configured')
    .addHelpText('after', '\nThe embedded database keeps its data in .counterfoil/dev. Ctrl-C stops everything.\n')
    .action(async () => {
      const { runDev } = await import('../dev/run-dev.js')
      exit(await runDev(terminal))
    })
}
