import { settleEntry } from '@counterfoil/db'
import { Option } from 'commander'
import type { Registration } from '../program.js'
import { toSnakeCase } from '../render/to-snake-case.js'
import { openAct, refuseAct } from '../terminal/open-act.js'
import { parseCount, parseId } from '../terminal/parse-options.js'
import { parseReason } from '../terminal/parse-reason.js'

type SettleOptions = {
  as: 'delivered' | 'not-delivered'
  evidence: string
  reason: string
  seenAttempt?: number
  json?: true
}

export const registerSettle: Registration = (program, terminal) => {
  program
    .command('settle')
    .description('close an uncertain entry with evidence of what really happened')
    .argument('<entry>', "the entry's id, as 'counterfoil show' prints it", parseId)
    .addOption(
      new Option('--as <what>', 'what you found out').choices(['delivered', 'not-delivered']).makeOptionMandatory(),
    )
    .requiredOption('--evidence <text>', 'what you looked at: a message id, a link, an answer', parseReason)
    .requiredOption('--reason <text>', 'why you settle it; kept for good', parseReason)
    .option('--seen-attempt <n>', 'refuse it when there is a newer attempt than this', parseCount(0, 1_000_000))
    .option('--json', 'print one JSON document')
    .action(async (entry: string, options: SettleOptions) => {
      const as = options.as === 'delivered' ? 'delivered' : 'not_delivered'
      const { evidence, seenAttempt = null } = options
      const result = await openAct(terminal, options.reason, ({ database, request }) =>
        settleEntry(database, entry, { ...request, as, evidence, seenAttempt }),
      )
      if (result.kind !== 'settled') throw refuseAct(`entry ${entry}`, result)
      if (options.json) terminal.out(`${JSON.stringify(toSnakeCase({ schemaVersion: 1, entry, ...result }))}\n`)
      else terminal.out(`settled as ${as.replace('_', ' ')} (act ${result.act})\n`)
    })
}
