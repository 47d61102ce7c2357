import { formatSecond } from '@counterfoil/core'
import { redriveEntry } from '@counterfoil/db'
import type { Registration } from '../program.js'
import { toSnakeCase } from '../render/to-snake-case.js'
import { openAct, refuseAct } from '../terminal/open-act.js'
import { parseId } from '../terminal/parse-options.js'
import { parseReason } from '../terminal/parse-reason.js'

export const registerRedrive: Registration = (program, terminal) => {
  program
    .command('redrive')
    .description('return an entry to pending where that is safe: same key, same content, attempt numbers go on')
    .argument('<entry>', "the entry's id, as 'counterfoil show' prints it", parseId)
    .requiredOption('--reason <text>', 'why, in words; kept for good', parseReason)
    .option('--json', 'print one JSON document')
    .action(async (entry: string, options: { reason: string; json?: true }) => {
      const result = await openAct(terminal, options.reason, ({ database, request, config }) =>
        redriveEntry(database, entry, request, config.destinations),
      )
      if (result.kind !== 'redriven') throw refuseAct(`entry ${entry}`, result)
      if (options.json) {
        terminal.out(`${JSON.stringify(toSnakeCase({ schemaVersion: 1, entry, ...result }))}\n`)
        return
      }
      const { destination, nextAttempt, paused, act, protectedUntil } = result
      terminal.out(
        `returned to pending: attempt ${nextAttempt} to ${destination} goes out under the same key (act ${act})\n`,
      )
      if (protectedUntil !== null) {
        terminal.err(
          `its effect is in doubt: ${destination} recognises the key until ${formatSecond(protectedUntil)}, and it is not sent after that\n`,
        )
      }
      if (paused !== null) {
        terminal.err(
          `${destination} is paused (${paused}): it waits until counterfoil release --destination ${destination}\n`,
        )
      }
    })
}
