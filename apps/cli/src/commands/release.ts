import { randomBytes } from 'node:crypto'
import { createUuidV7, planStoredDelivery } from '@counterfoil/core'
import { discardQuarantined, readStoredDelivery, releaseDestination, releaseQuarantined } from '@counterfoil/db'
import type { Registration } from '../program.js'
import { CommandFailure } from '../terminal/command-failure.js'
import { EXIT } from '../terminal/exit-codes.js'
import { type Act, openAct, refuseAct } from '../terminal/open-act.js'
import { parseId } from '../terminal/parse-options.js'
import { parseReason } from '../terminal/parse-reason.js'

type ReleaseOptions = { destination?: string; discard?: true; reason: string; json?: true }

export const registerRelease: Registration = (program, terminal) => {
  program
    .command('release')
    .description('let a quarantined delivery, or a paused destination, go on')
    .argument('[delivery]', "our id of a quarantined delivery, as 'counterfoil show' prints it", parseId)
    .option('--discard', 'drop the delivery for good instead: its claim stays, nothing follows from it')
    .option('--destination <name>', 'resume this paused destination')
    .requiredOption('--reason <text>', 'why, in words; kept for good', parseReason)
    .option('--json', 'print one JSON document')
    .action(async (delivery: string | undefined, options: ReleaseOptions) => {
      if ((delivery === undefined) === (options.destination === undefined)) {
        throw new CommandFailure(EXIT.usage, 'give either the id of a delivery or --destination')
      }
      if (options.discard && delivery === undefined) {
        throw new CommandFailure(EXIT.usage, '--discard is about a delivery: give its id')
      }
      const said = await openAct(terminal, options.reason, (act) =>
        delivery === undefined
          ? resume(act, options.destination ?? '')
          : options.discard
            ? discard(act, delivery)
            : release(act, delivery),
      )
      if (options.json) terminal.out(`${JSON.stringify({ schema_version: 1, ...said.document })}\n`)
      else terminal.out(`${said.text} (act ${said.document.act})\n`)
    })
}

type Said = { readonly text: string; readonly document: { readonly act: string } & Readonly<Record<string, unknown>> }

async function resume({ database, request }: Act, destination: string): Promise<Said> {
  const result = await releaseDestination(database, destination, request)
  if (result.kind !== 'resumed') throw refuseAct(`state of a destination ${destination}`, result)
  return {
    text: `${destination} goes on; it was paused for ${result.was}`,
    document: { act: result.act, destination, was: result.was },
  }
}

async function discard({ database, request }: Act, delivery: string): Promise<Said> {
  const result = await discardQuarantined(database, delivery, request)
  if (result.kind !== 'discarded') throw refuseAct(`delivery ${delivery}`, result)
  return { text: 'discarded', document: { act: result.act, delivery, discarded: true } }
}

async function release({ database, request, config }: Act, delivery: string): Promise<Said> {
  const stored = await readStoredDelivery(database, delivery)
  if (stored === null) throw refuseAct(`delivery ${delivery}`, { kind: 'not_found' })
  if (stored.body === null)
    throw new CommandFailure(EXIT.refused, 'its content was erased, so there is nothing to release')
  const source = config.sources.get(stored.source)
  if (source === undefined) throw new CommandFailure(EXIT.refused, `its source ${stored.source} is not configured`)
  const plan = planStoredDelivery(source, { ...stored, body: stored.body }, () =>
    createUuidV7(Date.now(), randomBytes(16)),
  )
  if (plan.kind !== 'planned') {
    const next = 'correct the route or the schema first, or release it with --discard'
    throw new CommandFailure(EXIT.refused, `today's configuration cannot use it either: ${plan.hint}`, next)
  }
  if (plan.disposition.kind !== 'act') {
    const next = 'add a route for it, or release it with --discard'
    throw new CommandFailure(EXIT.refused, `no route wants it: ${plan.disposition.reason}`, next)
  }
  const planned = { disposition: plan.disposition, references: plan.references }
  const result = await releaseQuarantined(database, delivery, planned, request)
  if (result.kind !== 'released') throw refuseAct(`delivery ${delivery}`, result)
  const outcome = result.outcome === null ? '' : `, its transition: ${result.outcome.replaceAll('_', ' ')}`
  const queued = result.destinations.length === 0 ? '' : `, queued for ${result.destinations.join(', ')}`
  return {
    text: `released${outcome}${queued}`,
    document: { act: result.act, delivery, outcome: result.outcome, destinations: result.destinations },
  }
}
