import { type PlanOnRecord, type RunPlanResult, readPlan, readPlanItems, runPlan, stopPlan } from '@counterfoil/db'
import type { Command } from 'commander'
import { planDocument, renderPlan, STATUS_WORDS, wordProgress } from '../plans/render-plan.js'
import type { Registration } from '../program.js'
import { toSnakeCase } from '../render/to-snake-case.js'
import { CommandFailure } from '../terminal/command-failure.js'
import { EXIT, type ExitCode } from '../terminal/exit-codes.js'
import { openAct } from '../terminal/open-act.js'
import { parseCount, parseDuration, parseId } from '../terminal/parse-options.js'
import { parseReason } from '../terminal/parse-reason.js'
import type { Terminal } from '../terminal/terminal.js'
import { withDatabase } from '../terminal/with-database.js'

type RunOptions = {
  reason?: string
  canary: number
  canaryWithin: number
  perSecond: number
  stopAfter: number
  json?: true
}

export const registerPlan: Registration = (program, terminal, exit) => {
  const plan = program
    .command('plan')
    .description('acts on many entries: look at a frozen plan, run it, stop it')
    .addHelpText('after', '\nA plan is made by redrive, settle or cancel with --destination instead of an entry.\n')
  registerShow(plan, terminal)
  registerRun(plan, terminal, exit)
  registerStop(plan, terminal)
}

function registerShow(plan: Command, terminal: Terminal): void {
  plan
    .command('show')
    .description('what a plan does, what it leaves out and why, and how far it has come')
    .argument('<plan>', "the plan's id", parseId)
    .option('--json', 'print one JSON document, with every entry and its result')
    .action(async (id: string, options: { json?: true }) => {
      const found = await withDatabase(terminal, { role: null }, async (database) => {
        const one = await readPlan(database, id)
        return one === null ? null : { plan: one, items: await readPlanItems(database, id) }
      })
      if (found === null) throw noPlan(id)
      if (options.json) terminal.out(`${JSON.stringify(planDocument(found.plan, found.items), null, 2)}\n`)
      else terminal.out(renderPlan(found.plan, found.items))
    })
}

function registerRun(plan: Command, terminal: Terminal, exit: (code: ExitCode) => void): void {
  plan
    .command('run')
    .description('do what is left of a plan; goes on after a kill or a stop, and never twice')
    .argument('<plan>', "the plan's id", parseId)
    .option('--reason <text>', "why now; without it the plan's own reason", parseReason)
    .option(
      '--canary <n>',
      'so many entries first; the rest waits until all of them are delivered',
      parseCount(0, 1000),
      5,
    )
    .option('--canary-within <duration>', 'stop when they are not delivered by then', parseDuration, 60_000)
    .option('--per-second <n>', 'at most so many a second', parseCount(1, 100), 5)
    .option('--stop-after <n>', 'stop when so many have failed again', parseCount(1, 1_000_000), 10)
    .option('--json', 'print one JSON document at the end')
    .action(async (id: string, options: RunOptions) => {
      const planned = await withDatabase(terminal, { role: null }, (database) => readPlan(database, id))
      if (planned === null) throw noPlan(id)
      const result = await run(terminal, planned, options)
      if (result.kind === 'not_found') throw noPlan(id)
      if (result.kind === 'running') {
        throw new CommandFailure(EXIT.conflict, 'somebody is running it already', `counterfoil plan show ${id}`)
      }
      if (result.kind === 'nothing_left') {
        throw new CommandFailure(EXIT.conflict, 'nothing is left of it to do', `counterfoil plan show ${id}`)
      }
      const { as, progress } = result
      if (options.json) {
        const { canary: _canary, ...counts } = progress
        terminal.out(`${JSON.stringify(toSnakeCase({ schemaVersion: 1, plan: id, ended: as, ...counts }))}\n`)
      } else terminal.out(`${STATUS_WORDS[as]}\n${wordProgress(progress)}\n`)
      exit(exitCodeOf(as))
    })
}

function run(terminal: Terminal, planned: PlanOnRecord, options: RunOptions): Promise<RunPlanResult> {
  const { canary, canaryWithin: canaryWithinMs, perSecond, stopAfter } = options
  return openAct(terminal, options.reason ?? planned.reason, ({ database, request, config }) =>
    runPlan(database, planned.id, request, {
      canary,
      canaryWithinMs,
      perSecond,
      stopAfter,
      destinations: config.destinations,
      signal: terminal.interrupted,
      onItem: (item) => {
        if (item.kind === 'done') terminal.err(`${item.number} ${item.entry}: done\n`)
        else if (item.kind === 'skipped') terminal.err(`${item.number} ${item.entry}: skipped, ${item.why}\n`)
      },
    }),
  )
}

function exitCodeOf(as: Extract<RunPlanResult, { kind: 'ended' }>['as']): ExitCode {
  if (as === 'done') return EXIT.ok
  if (as === 'interrupted') return EXIT.interrupted
  return as === 'superseded' ? EXIT.conflict : EXIT.findings
}

function registerStop(plan: Command, terminal: Terminal): void {
  plan
    .command('stop')
    .description('stop the run of a plan before its next entry')
    .argument('<plan>', "the plan's id", parseId)
    .requiredOption('--reason <text>', 'why, in words; kept for good', parseReason)
    .action(async (id: string, options: { reason: string }) => {
      const result = await openAct(terminal, options.reason, ({ database, request }) => stopPlan(database, id, request))
      if (result.kind === 'not_found') throw noPlan(id)
      if (result.kind === 'not_running') {
        const next = `counterfoil plan show ${id}`
        throw new CommandFailure(EXIT.conflict, `nobody is running it (${result.status.replaceAll('_', ' ')})`, next)
      }
      terminal.out(`it stops before its next entry (act ${result.act})\n`)
    })
}

function noPlan(id: string): CommandFailure {
  return new CommandFailure(EXIT.notFound, `there is no plan ${id}`, 'give the id as it was printed when it was made')
}
