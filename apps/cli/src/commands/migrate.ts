import { migrateUp, readMigrationStatus } from '@counterfoil/db'
import type { Registration } from '../program.js'
import { CommandFailure } from '../terminal/command-failure.js'
import { EXIT } from '../terminal/exit-codes.js'
import { withDatabase } from '../terminal/with-database.js'

export const registerMigrate: Registration = (program, terminal, exit) => {
  const migrate = program.command('migrate').description('bring the database schema up to date')

  migrate
    .command('up')
    .description('apply every migration that is missing, each in its own transaction')
    .option('--json', 'print one JSON document')
    .action(async ({ json }: { json?: true }) => {
      const { applied } = await withDatabase(terminal, { role: null }, migrateUp)
      if (json) terminal.out(`${JSON.stringify({ schema_version: 1, applied })}\n`)
      else if (applied.length === 0) terminal.out('nothing to apply: the schema is up to date\n')
      else for (const name of applied) terminal.out(`applied ${name}\n`)
    })

  migrate
    .command('status')
    .description('list what is applied, missing and unknown; exits 6 when something is missing or unknown')
    .option('--json', 'print one JSON document')
    .action(async ({ json }: { json?: true }) => {
      const { applied, pending, unknown } = await withDatabase(terminal, { role: null }, readMigrationStatus)
      if (json) terminal.out(`${JSON.stringify({ schema_version: 1, applied, pending, unknown })}\n`)
      else {
        for (const name of applied) terminal.out(`applied  ${name}\n`)
        for (const name of pending) terminal.out(`missing  ${name}\n`)
        for (const name of unknown) terminal.out(`unknown  ${name}\n`)
      }
      if (unknown.length > 0)
        throw new CommandFailure(EXIT.findings, 'the schema is newer than this program', 'run a newer counterfoil')
      if (pending.length > 0) exit(EXIT.findings)
    })
}
