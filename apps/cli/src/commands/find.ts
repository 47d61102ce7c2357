import { formatInstant, VERDICT_KINDS, type VerdictKind } from '@counterfoil/core'
import { Option } from 'commander'
import { type Listed, type Listing, listDeliveries } from '../audit/list-deliveries.js'
import { listOverdue } from '../audit/list-overdue.js'
import type { Registration } from '../program.js'
import { deliveryDocument } from '../render/answer-document.js'
import { type Cell, renderTable } from '../render/render-table.js'
import { toSnakeCase } from '../render/to-snake-case.js'
import { paintVerdict } from '../render/verdict-mark.js'
import { parseCount, parseCursor, parseMoment } from '../terminal/parse-options.js'
import type { Terminal } from '../terminal/terminal.js'
import { withDatabase } from '../terminal/with-database.js'

type FindOptions = {
  source?: string
  type?: string
  destination?: string
  verdict?: VerdictKind
  overdue?: true
  since?: number
  until?: number
  limit: number
  after?: string
  json?: true
  jsonl?: true
}

const VERDICTS = VERDICT_KINDS.filter((kind) => kind !== 'no_record' && kind !== 'never_queued')
const WEEK_MS = 7 * 86_400_000

export const registerFind: Registration = (program, terminal) => {
  program
    .command('find')
    .description('list deliveries, newest first, with their verdicts')
    .option('--source <name>', 'only from this source')
    .option('--type <type>', 'only this event type')
    .option('--destination <name>', 'only with an action for this destination')
    .addOption(new Option('--verdict <kind>', 'only with this verdict').choices(VERDICTS))
    .option('--overdue', 'only doubts that are overdue, oldest first, however old')
    .option('--since <time>', 'claimed at or after: 2026-11-29, 2026-11-29T14:00Z, or 90m, 12h, 7d ago', parseMoment)
    .option('--until <time>', 'claimed before', parseMoment)
    .option('--limit <n>', 'at most this many', parseCount(1, 1000), 50)
    .option('--after <cursor>', 'go on from the cursor that an earlier page ended with', parseCursor)
    .option('--json', 'print one JSON document')
    .option('--jsonl', 'print one JSON document per line and delivery')
    .addHelpText(
      'after',
      '\nWithout --since, the last 7 days.\n\nExamples:\n  counterfoil find --verdict unknown --since 24h\n',
    )
    .action(async (options: FindOptions) => {
      if (options.overdue) {
        const listing = await withDatabase(terminal, { role: null }, (database) => listOverdue(database, options))
        printListing(terminal, listing, options)
        return
      }
      const since = options.since ?? Date.now() - WEEK_MS
      const listing = await withDatabase(terminal, { role: null }, (database) =>
        listDeliveries(
          database,
          {
            source: options.source ?? null,
            type: options.type ?? null,
            destination: options.destination ?? null,
            since,
            until: options.until ?? null,
          },
          { verdict: options.verdict ?? null, limit: options.limit, after: options.after ?? null },
        ),
      )
      printListing(terminal, listing, options)
    })
}

function printListing(terminal: Terminal, { found, next }: Listing, options: FindOptions): void {
  if (options.json) {
    const document = { schemaVersion: 1, deliveries: found.map(deliveryDocument), next }
    terminal.out(`${JSON.stringify(toSnakeCase(document), null, 2)}\n`)
    return
  }
  if (options.jsonl) {
    for (const one of found) {
      terminal.out(`${JSON.stringify(toSnakeCase({ schemaVersion: 1, ...deliveryDocument(one) }))}\n`)
    }
  } else if (found.length > 0) {
    const head = ['Claimed (UTC)', 'Verdict', 'Type', 'Source', 'Delivery', 'References', 'Destinations', 'Att.']
    terminal.out(
      renderTable(
        head,
        found.map((one) => toRow(one, terminal)),
      ),
    )
  } else if (options.overdue) terminal.err('no doubt is overdue\n')
  else terminal.err('nothing matches; without --since, only the last 7 days are looked at\n')
  if (next !== null) terminal.err(`there may be more: --after ${next}\n`)
}

function toRow({ timeline, verdict }: Listed, terminal: Terminal): readonly Cell[] {
  const { delivery, references, entries } = timeline
  const { kind, label } = verdict.headline
  return [
    formatInstant(delivery.claimedAt),
    { text: label, paint: (text) => paintVerdict(terminal.paint, kind, text) },
    delivery.eventType ?? '-',
    delivery.source,
    delivery.deliveryId,
    references.map(({ value }) => value ?? '(personal)').join(' ') || '-',
    entries.map((entry) => entry.destination).join(' ') || '-',
    String(verdict.counters.attempts),
  ]
}
