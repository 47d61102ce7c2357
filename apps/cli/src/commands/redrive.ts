import { formatSecond } from '@counterfoil/core'
import { redriveEntry } from '@counterfoil/db'
import { planMany } from '../plans/plan-many.js'
import { addPlanOptions, type PlanOptions, readTarget } from '../plans/plan-options.js'
import type { Registration } from '../program.js'
import { toSnakeCase } from '../render/to-snake-case.js'
import { openAct, refuseAct } from '../terminal/open-act.js'
import { parseId } from '../terminal/parse-options.js'
import { parseReason } from '../terminal/parse-reason.js'
import type { Terminal } from '../terminal/terminal.js'

type RedriveOptions = PlanOptions & { reason: string; json?: true }

export const registerRedrive: Registration = (program, terminal) => {
  const command = program
    .command('redrive')
    .description('return an entry to pending where that is safe: same key, same content, attempt numbers go on')
    .argument('[entry]', "the entry's id, as 'counterfoil show' prints it", parseId)
    .requiredOption('--reason <text>', 'why, in words; kept for good', parseReason)
    .option('--json', 'print one JSON document')
  addPlanOptions(command).action(async (entry: string | undefined, options: RedriveOptions) => {
    const target = readTarget(entry, options)
    const { reason, json = false } = options
    if (target.kind === 'one') await redriveOne(terminal, target.entry, reason, json)
    else await planMany(terminal, { action: { kind: 'redrive' }, filter: target.filter, reason, json })
  })
}

async function redriveOne(terminal: Terminal, entry: string, reason: string, json: boolean): Promise<void> {
  const result = await openAct(terminal, reason, ({ database, request, config }) =>
    redriveEntry(database, entry, request, config.destinations),
  )
  if (result.kind !== 'redriven') throw refuseAct(`entry ${entry}`, result)
  if (json) {
    terminal.out(`${JSON.stringify(toSnakeCase({ schemaVersion: 1, entry, ...result }))}\n`)
    return
  }
  const { destination, nextAttempt, paused, act, protectedUntil } = result
  terminal.out(
    `returned to pending: attempt ${nextAttempt} to ${destination} goes out under the same key (act ${act})\n`,
  )
  if (protectedUntil !== null) {
    const until = formatSecond(protectedUntil)
    terminal.err(
      `its effect is in doubt: ${destination} recognises the key until ${until}, and it is not sent after that\n`,
    )
  }
  if (paused !== null) {
    terminal.err(
      `${destination} is paused (${paused}): it waits until counterfoil release --destination ${destination}\n`,
    )
  }
}
