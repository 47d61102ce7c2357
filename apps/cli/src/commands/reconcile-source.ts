import { formatInstant, LISTING_FORMATS, type ListedDelivery, type ListingFormat } from '@counterfoil/core'
import { Option } from 'commander'
import type { Registration } from '../program.js'
import { compareSource, type SourceComparison } from '../reconcile/compare-source.js'
import { readListingFile } from '../reconcile/read-listing-file.js'
import { escapeForTerminal } from '../render/escape-for-terminal.js'
import { toSnakeCase } from '../render/to-snake-case.js'
import { EXIT } from '../terminal/exit-codes.js'
import { parseMoment } from '../terminal/parse-options.js'
import { withDatabase } from '../terminal/with-database.js'

type SourceOptions = {
  source: string
  list: string
  format: ListingFormat
  since?: number
  until?: number
  json?: true
}

export const registerReconcileSource: Registration = (program, terminal, exit) => {
  program
    .command('reconcile-source')
    .description("compare a sender's own list of deliveries with what is here; changes nothing")
    .requiredOption('--source <name>', 'the source whose sender made the list')
    .requiredOption('--list <file>', "the sender's list; - reads stdin")
    .addOption(new Option('--format <format>', 'how it is written down').choices(LISTING_FORMATS).default('lines'))
    .option('--since <time>', 'from when on the list is complete (default: its first time)', parseMoment)
    .option('--until <time>', 'until when (default: its last time)', parseMoment)
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExample:\n  gh api --paginate --slurp /repos/o/r/hooks/1/deliveries | \\\n' +
        '    counterfoil reconcile-source --source github --list - --format github\n\n' +
        'Exits 6 when something that was listed is missing here.\n',
    )
    .action(async (options: SourceOptions) => {
      const { source, since = null, until = null } = options
      const listed = await readListingFile(options.list, options.format, terminal.stdin)
      const comparison = await withDatabase(terminal, { role: null }, (database) =>
        compareSource(database, source, listed, { since, until }),
      )
      if (options.json) {
        terminal.out(`${JSON.stringify(toSnakeCase({ schemaVersion: 1, source, ...comparison }), null, 2)}\n`)
      } else terminal.out(describeComparison(source, comparison))
      const { missing, neverClaimed, agreed, failedThere } = comparison
      if (missing.count > 0 && agreed + failedThere.count === 0) {
        terminal.err(`nothing of this list is here: is ${source} the right name, and are these its delivery ids?\n`)
      }
      if (missing.count + neverClaimed.count > 0) exit(EXIT.findings)
    })
}

function describeComparison(source: string, comparison: SourceComparison): string {
  const { listed, agreed, missing, neverClaimed, failedThere, notListed } = comparison
  const lines = [
    `${source}: ${listed} listed, ${agreed} claimed here`,
    ...section('missing here, never queued', missing.count, missing.items.map(describeListed)),
    ...section('arrived here, never claimed', neverClaimed.count, neverClaimed.items.map(describeListed)),
    ...section('failed there, claimed here all the same', failedThere.count, failedThere.items.map(describeListed)),
    ...(notListed === null
      ? ['claimed here, not on the list: not compared, because the list names no times (--since, --until)']
      : section(
          'claimed here, not on the list',
          notListed.count,
          notListed.items.map(({ deliveryId, claimedAt }) => `${deliveryId}  claimed ${formatInstant(claimedAt)}`),
        )),
  ]
  return `${lines.map(escapeForTerminal).join('\n')}\n`
}

function section(title: string, count: number, items: readonly string[]): string[] {
  const more = count - items.length
  return [`${title}: ${count}`, ...items.map((item) => `  ${item}`), ...(more > 0 ? [`  … and ${more} more`] : [])]
}

function describeListed({ id, at }: ListedDelivery): string {
  return at === null ? id : `${id}  pushed ${formatInstant(at)}`
}
