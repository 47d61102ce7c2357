import { settleEntry } from '@counterfoil/db'
import { Option } from 'commander'
import { planMany } from '../plans/plan-many.js'
import { addPlanOptions, type PlanOptions, readTarget } from '../plans/plan-options.js'
import type { Registration } from '../program.js'
import { toSnakeCase } from '../render/to-snake-case.js'
import { CommandFailure } from '../terminal/command-failure.js'
import { EXIT } from '../terminal/exit-codes.js'
import { openAct, refuseAct } from '../terminal/open-act.js'
import { parseCount, parseId } from '../terminal/parse-options.js'
import { parseReason } from '../terminal/parse-reason.js'

type SettleOptions = PlanOptions & {
  as: 'delivered' | 'not-delivered'
  evidence: string
  reason: string
  seenAttempt?: number
  json?: true
}

export const registerSettle: Registration = (program, terminal) => {
  const command = program
    .command('settle')
    .description('close the doubt about an entry with evidence of what really happened')
    .argument('[entry]', "the entry's id, as 'counterfoil show' prints it", parseId)
    .addOption(
      new Option('--as <what>', 'what you found out').choices(['delivered', 'not-delivered']).makeOptionMandatory(),
    )
    .requiredOption('--evidence <text>', 'what you looked at: a message id, a link, an answer', parseReason)
    .requiredOption('--reason <text>', 'why you settle it; kept for good', parseReason)
    .option('--seen-attempt <n>', 'refuse it when there is a newer attempt than this', parseCount(0, 1_000_000))
    .option('--json', 'print one JSON document')
  addPlanOptions(command).action(async (entry: string | undefined, options: SettleOptions) => {
    const target = readTarget(entry, options)
    const as = options.as === 'delivered' ? 'delivered' : 'not_delivered'
    const { evidence, seenAttempt = null, reason, json = false } = options
    if (target.kind === 'many') {
      if (seenAttempt !== null) throw new CommandFailure(EXIT.usage, '--seen-attempt is about one entry: give its id')
      return planMany(terminal, { action: { kind: 'settle', as, evidence }, filter: target.filter, reason, json })
    }
    const result = await openAct(terminal, reason, ({ database, request }) =>
      settleEntry(database, target.entry, { ...request, as, evidence, seenAttempt }),
    )
    if (result.kind !== 'settled') throw refuseAct(`entry ${target.entry}`, result)
    const document = { schemaVersion: 1, entry: target.entry, ...result }
    if (json) terminal.out(`${JSON.stringify(toSnakeCase(document))}\n`)
    else terminal.out(`settled as ${as.replace('_', ' ')} (act ${result.act})\n`)
  })
}
