import type { ClientBase } from 'pg'
import type { AskedEntry } from '../claim/encode-entries.js'
import { writeEntries } from '../claim/write-entries.js'
import { applySubjects } from './apply-subjects.js'
import type { ConditionalDecision } from './decide-conditional.js'
import { type DecidedBy, recordOutcomes } from './record-outcomes.js'
import type { SubjectTable } from './subject-table.js'

/** Writes judged rows, their outcomes and their entries in the transaction that holds the locks. Returns new entries. */
export async function writeDecisions(
  client: ClientBase,
  table: SubjectTable,
  decidedBy: DecidedBy,
  decisions: readonly ConditionalDecision[],
): Promise<readonly AskedEntry[]> {
  const applied = decisions.filter((decision) => decision.outcome === 'applied')
  await applySubjects(
    client,
    table,
    applied.map((decision) => decision.subject),
  )
  await recordOutcomes(
    client,
    decidedBy,
    decisions.map((decision) => ({
      deliveryUuid: decision.ask.deliveryUuid,
      transition: table.transition.name,
      subject: decision.subject,
      outcome: decision.outcome,
      decidedAt: decision.row?.judgedAt ?? null,
      askAgainInMs: decision.handling.kind === 'defer' ? decision.handling.remainingMs : null,
    })),
  )
  return writeEntries(
    client,
    applied.flatMap((decision) => decision.entries),
  )
}
