import { cancelEntry } from '@counterfoil/db'
import { planMany } from '../plans/plan-many.js'
import { addPlanOptions, type PlanOptions, readTarget } from '../plans/plan-options.js'
import type { Registration } from '../program.js'
import { toSnakeCase } from '../render/to-snake-case.js'
import { openAct, refuseAct } from '../terminal/open-act.js'
import { parseId } from '../terminal/parse-options.js'
import { parseReason } from '../terminal/parse-reason.js'
import type { Terminal } from '../terminal/terminal.js'

type CancelOptions = PlanOptions & { reason: string; json?: true }

export const registerCancel: Registration = (program, terminal) => {
  const command = program
    .command('cancel')
    .description('stop an entry that waits to be sent and of which nothing can have taken effect; final')
    .argument('[entry]', "the entry's id, as 'counterfoil show' prints it", parseId)
    .requiredOption('--reason <text>', 'why, in words; kept for good', parseReason)
    .option('--json', 'print one JSON document')
  addPlanOptions(command).action(async (entry: string | undefined, options: CancelOptions) => {
    const target = readTarget(entry, options)
    const { reason, json = false } = options
    if (target.kind === 'one') await cancelOne(terminal, target.entry, reason, json)
    else await planMany(terminal, { action: { kind: 'cancel' }, filter: target.filter, reason, json })
  })
}

async function cancelOne(terminal: Terminal, entry: string, reason: string, json: boolean): Promise<void> {
  const result = await openAct(terminal, reason, ({ database, request }) => cancelEntry(database, entry, request))
  if (result.kind !== 'cancelled') throw refuseAct(`entry ${entry}`, result)
  if (json) terminal.out(`${JSON.stringify(toSnakeCase({ schemaVersion: 1, entry, ...result }))}\n`)
  else terminal.out(`cancelled: ${result.destination} will not be asked for it (act ${result.act})\n`)
}
