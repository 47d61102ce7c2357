import type { PlanFilter } from '@counterfoil/db'
import { type Command, InvalidArgumentError } from 'commander'
import { CommandFailure } from '../terminal/command-failure.js'
import { EXIT } from '../terminal/exit-codes.js'
import { parseCount, parseMoment } from '../terminal/parse-options.js'

export type PlanOptions = {
  destination?: string
  reasonKind?: readonly string[]
  since?: number
  until?: number
  limit: number
}

/** One entry, or many by a plan. */
export type Target =
  | { readonly kind: 'one'; readonly entry: string }
  | { readonly kind: 'many'; readonly filter: PlanFilter }

const MOST_ITEMS = 20_000
const DEFAULT_ITEMS = 5_000

/** The options that make a plan of a command on one entry. */
export function addPlanOptions(command: Command): Command {
  return command
    .option('--destination <name>', 'instead of one entry: plan it for the entries of this destination')
    .option('--reason-kind <kind...>', 'only what stands where it stands for this reason, such as rejected', parseKinds)
    .option(
      '--since <time>',
      'only what ended at or after: 2026-11-29, 2026-11-29T14:00Z, or 90m, 12h, 7d ago',
      parseMoment,
    )
    .option('--until <time>', 'only what ended before', parseMoment)
    .option('--limit <n>', 'at most this many', parseCount(1, MOST_ITEMS), DEFAULT_ITEMS)
}

function parseKinds(text: string, before: readonly string[] = []): readonly string[] {
  const kinds = text.split(',')
  if (!kinds.every((kind) => /^[a-z_]{1,40}$/.test(kind))) {
    throw new InvalidArgumentError("give reasons as 'counterfoil show --json' names them, such as attempts_used_up.")
  }
  return [...before, ...kinds]
}

/** Ends the command unless it is told either one entry or a destination. */
export function readTarget(entry: string | undefined, options: PlanOptions): Target {
  const { destination, reasonKind, since, until, limit } = options
  if ((entry === undefined) === (destination === undefined)) {
    throw new CommandFailure(EXIT.usage, 'give either the id of an entry, or --destination to plan it for many')
  }
  if (destination !== undefined) {
    const filter = { destination, reasons: reasonKind ?? null, since: since ?? null, until: until ?? null, limit }
    return { kind: 'many', filter }
  }
  if (reasonKind !== undefined || since !== undefined || until !== undefined) {
    throw new CommandFailure(EXIT.usage, '--reason-kind, --since and --until choose among many: give --destination')
  }
  return { kind: 'one', entry: entry ?? '' }
}
