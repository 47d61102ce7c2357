import { answerAgain } from '@counterfoil/db'
import type { Registration } from '../program.js'
import { toSnakeCase } from '../render/to-snake-case.js'
import { CommandFailure } from '../terminal/command-failure.js'
import { EXIT } from '../terminal/exit-codes.js'
import { openAct, refuseAct } from '../terminal/open-act.js'
import { parseId } from '../terminal/parse-options.js'
import { parseReason } from '../terminal/parse-reason.js'

type ApproveOptions = { decline?: true; reason: string; json?: true }

export const registerApprove: Registration = (program, terminal) => {
  program
    .command('approve')
    .description('answer the request of another operator to send an action again as new')
    .argument('<request>', "the request's id, as 'counterfoil send-again' printed it", parseId)
    .option('--decline', 'say no instead; whoever asked may take it back like this, too')
    .requiredOption('--reason <text>', 'why, in words; kept for good', parseReason)
    .option('--json', 'print one JSON document')
    .action(async (id: string, options: ApproveOptions) => {
      const answer = options.decline === true ? 'declined' : 'approved'
      const result = await openAct(terminal, options.reason, ({ database, request, config }) => {
        if (answer === 'approved' && config.operators.get(request.actor)?.approver !== true) {
          const next = 'an operator with approver: true in the configuration answers it'
          throw new CommandFailure(EXIT.refused, `${request.actor} has no right to approve`, next)
        }
        return answerAgain(database, id, { ...request, answer }, config.destinations)
      })
      if (result.kind !== 'approved' && result.kind !== 'declined') throw refuseAct(`request ${id}`, result)
      if (options.json) terminal.out(`${JSON.stringify(toSnakeCase({ schemaVersion: 1, request: id, ...result }))}\n`)
      else if (result.kind === 'declined') terminal.out(`declined: nothing is sent (act ${result.act})\n`)
      else {
        const { destination, newKey, entry, act } = result
        terminal.out(
          `queued: ${destination} is asked a second time, as entry ${entry} under the key ${newKey} (act ${act})\n`,
        )
      }
    })
}
