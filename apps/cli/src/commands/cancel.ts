import { cancelEntry } from '@counterfoil/db'
import type { Registration } from '../program.js'
import { toSnakeCase } from '../render/to-snake-case.js'
import { openAct, refuseAct } from '../terminal/open-act.js'
import { parseId } from '../terminal/parse-options.js'
import { parseReason } from '../terminal/parse-reason.js'

export const registerCancel: Registration = (program, terminal) => {
  program
    .command('cancel')
    .description('stop an entry that waits to be sent and of which nothing can have taken effect; final')
    .argument('<entry>', "the entry's id, as 'counterfoil show' prints it", parseId)
    .requiredOption('--reason <text>', 'why, in words; kept for good', parseReason)
    .option('--json', 'print one JSON document')
    .action(async (entry: string, options: { reason: string; json?: true }) => {
      const result = await openAct(terminal, options.reason, ({ database, request }) =>
        cancelEntry(database, entry, request),
      )
      if (result.kind !== 'cancelled') throw refuseAct(`entry ${entry}`, result)
      if (options.json) terminal.out(`${JSON.stringify(toSnakeCase({ schemaVersion: 1, entry, ...result }))}\n`)
      else terminal.out(`cancelled: ${result.destination} will not be asked for it (act ${result.act})\n`)
    })
}
