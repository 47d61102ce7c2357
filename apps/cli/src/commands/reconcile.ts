import type { Registration } from '../program.js'
import { type AskedDoubt, askDoubts } from '../reconcile/ask-doubts.js'
import { escapeForTerminal } from '../render/escape-for-terminal.js'
import { toSnakeCase } from '../render/to-snake-case.js'
import { CommandFailure } from '../terminal/command-failure.js'
import { EXIT } from '../terminal/exit-codes.js'
import { openAct, refuseAct } from '../terminal/open-act.js'
import { parseCount, parseId } from '../terminal/parse-options.js'
import { parseReason } from '../terminal/parse-reason.js'

type ReconcileOptions = { destination?: string; overdue?: true; limit: number; reason: string; json?: true }

export const registerReconcile: Registration = (program, terminal, exit) => {
  program
    .command('reconcile')
    .description('ask destinations now what became of entries held as uncertain')
    .argument('[entry]', "one entry's id, as 'counterfoil show' prints it", parseId)
    .option('--destination <name>', 'all open doubts of this destination')
    .option('--overdue', 'only doubts that are overdue')
    .option('--limit <n>', 'at most this many, oldest first', parseCount(1, 10_000), 100)
    .requiredOption('--reason <text>', 'why, in words; kept for good', parseReason)
    .option('--json', 'print one JSON document')
    .addHelpText('after', '\nExits 6 while doubts remain. A destination is asked by the lookup of its configuration.\n')
    .action(async (entry: string | undefined, options: ReconcileOptions) => {
      const { destination = null, overdue, limit, reason } = options
      if ((entry === undefined) === (destination === null && overdue === undefined)) {
        const next = 'counterfoil reconcile <entry>, or --destination <name>, or --overdue'
        throw new CommandFailure(EXIT.usage, 'name either one entry, or which doubts to ask about', next)
      }
      const choice = { entry: entry ?? null, destination, overdueOnly: overdue === true, limit }
      const done = await openAct(terminal, reason, (act) => askDoubts(act, choice))
      if (done.kind === 'nothing_open') throw refuseAct(`entry ${entry}`, done.refusal)
      if (options.json) {
        const { asked, remain, cut } = done
        terminal.out(`${JSON.stringify(toSnakeCase({ schemaVersion: 1, asked, remain, cut }), null, 2)}\n`)
      } else {
        for (const one of done.asked) terminal.out(`${escapeForTerminal(describeAsked(one))}\n`)
        if (done.asked.length === 0) terminal.err('no such doubt is open\n')
        if (done.cut) terminal.err(`there are more: only ${limit} were asked about (--limit)\n`)
      }
      if (done.remain > 0) exit(EXIT.findings)
    })
}

const EFFECTS = {
  delivered: 'it acted: delivered',
  returned: 'it did not act: returned to pending, under the same key',
  dead_lettered: 'it did not act: held for review, redrive it when the cause is gone',
  asked_again: 'still unknown: asked again later',
  waits_for_person: 'still unknown: find out and settle it',
  kept: 'the entry had moved on meanwhile: kept as evidence',
} as const

function describeAsked({ entry, destination, result }: AskedDoubt): string {
  return `${entry}  ${destination}  ${describeResult(result)}`
}

function describeResult(result: AskedDoubt['result']): string {
  switch (result.kind) {
    case 'reconciled': {
      const why = [result.found.status, result.cause].filter((one) => one !== null).join(', ')
      return `${EFFECTS[result.effect]}${why === '' ? '' : ` (${why})`}`
    }
    case 'no_lookup':
      return 'can not be asked: no lookup is configured; find out and settle it'
    case 'not_found':
      return 'is gone'
    case 'conflict':
    case 'refused':
      return `not asked: ${result.why}`
  }
}
