import type { ResolvedConfig } from '@counterfoil/config'
import { requestAgain } from '@counterfoil/db'
import type { Registration } from '../program.js'
import { toSnakeCase } from '../render/to-snake-case.js'
import { CommandFailure } from '../terminal/command-failure.js'
import { EXIT } from '../terminal/exit-codes.js'
import { openAct, refuseAct } from '../terminal/open-act.js'
import { parseId } from '../terminal/parse-options.js'
import { parseReason } from '../terminal/parse-reason.js'

type SendAgainOptions = { approvedBy: string; reason: string; json?: true }

export const registerSendAgain: Registration = (program, terminal) => {
  program
    .command('send-again')
    .description('ask for a second business action with the same content under a new key; another person approves it')
    .argument('<entry>', "the entry's id, as 'counterfoil show' prints it", parseId)
    .requiredOption('--approved-by <operator>', 'the operator with the approver right who is to say yes')
    .requiredOption('--reason <text>', 'why, in words; kept for good', parseReason)
    .option('--json', 'print one JSON document')
    .action(async (entry: string, options: SendAgainOptions) => {
      const result = await openAct(terminal, options.reason, ({ database, request, config }) => {
        const approver = requireApprover(config, options.approvedBy, request.actor)
        return requestAgain(database, entry, { ...request, approver }, config.destinations)
      })
      if (result.kind !== 'requested') throw refuseAct(`entry ${entry}`, result)
      if (options.json) {
        terminal.out(`${JSON.stringify(toSnakeCase({ schemaVersion: 1, entry, ...result }))}\n`)
        return
      }
      const { destination, approver, newKey, request, act } = result
      terminal.out(`asked ${approver}, and nothing is queued until then: request ${request} (act ${act})\n`)
      terminal.err(
        `${destination} WILL be asked to act a second time, under the new key ${newKey}\n` +
          `next: ${approver} runs counterfoil approve ${request} --reason "…"\n`,
      )
    })
}

/** Two people: the one who is asked is configured, may approve, and is not the one who asks. */
function requireApprover(config: ResolvedConfig, name: string, actor: string): string {
  if (name === actor) {
    throw new CommandFailure(EXIT.refused, 'nobody approves what they ask for themselves', wordApprovers(config, actor))
  }
  const operator = config.operators.get(name)
  if (operator?.approver === true) return name
  const what = operator === undefined ? `there is no operator ${name}` : `${name} has no right to approve`
  throw new CommandFailure(EXIT.refused, what, wordApprovers(config, actor))
}

function wordApprovers(config: ResolvedConfig, actor: string): string {
  const names = [...config.operators.values()].filter(({ name, approver }) => approver && name !== actor)
  if (names.length === 0) return 'give a second operator approver: true in the configuration'
  return `ask one of: ${names.map(({ name }) => name).join(', ')}`
}
