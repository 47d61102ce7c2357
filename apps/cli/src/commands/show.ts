import { answerQuery } from '../audit/answer-query.js'
import { isFinding } from '../audit/is-finding.js'
import type { Registration } from '../program.js'
import { answerDocument } from '../render/answer-document.js'
import { headlineOf, renderAnswers } from '../render/render-answer.js'
import { EXIT } from '../terminal/exit-codes.js'
import { withDatabase } from '../terminal/with-database.js'

type ShowOptions = { json?: true; all?: true; exitCode?: true }

export const registerShow: Registration = (program, terminal, exit) => {
  program
    .command('show')
    .description('what happened to a ticket, delivery, key or reservation: verdict, counters and timeline')
    .argument(
      '<query>',
      "a reference's value, a delivery id, an idempotency key, a transition's subject, or an id of ours",
    )
    .option('--all', 'tell every match in full, not only the newest when there are many')
    .option('--json', 'print one JSON document')
    .option('--exit-code', 'exit 6 when something is unknown, not delivered or possibly delivered twice')
    .addHelpText(
      'after',
      '\nExamples:\n  counterfoil show ticket-4821\n  counterfoil show R-1842 --json\n\nExits 3 when nothing is on record.\n',
    )
    .action(async (query: string, options: ShowOptions) => {
      const answer = await withDatabase(terminal, { role: null }, (database) => answerQuery(database, query))
      if (options.json) terminal.out(`${JSON.stringify(answerDocument(answer), null, 2)}\n`)
      else terminal.out(renderAnswers(answer, terminal.paint, options.all === true))
      if (answer.answers.length === 0) exit(EXIT.notFound)
      else if (options.exitCode && answer.answers.some((one) => isFinding(headlineOf(one).kind))) exit(EXIT.findings)
    })
}
