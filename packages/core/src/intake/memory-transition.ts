import {
  type Handling,
  handleJudgement,
  judgeConditionalUpdate,
  type RowFacts,
} from '../transition/judge-conditional-update.js'
import type { ActionDraft, ConditionalUpdate, PlannedTransition, TransitionOutcome } from '../transition/transition.js'
import { addTo, type MemoryTables } from './memory-records.js'

export type MemoryDecision = {
  readonly outcome: TransitionOutcome
  readonly handling: Handling
  readonly subject: string
  readonly actions: readonly ActionDraft[]
  readonly tables: MemoryTables
}

/** Decides a planned transition over rows in memory, by the same judge as the database's. */
export async function decideInMemory(
  planned: PlannedTransition,
  delivery: { readonly source: string; readonly deliveryId: string },
  tables: MemoryTables,
  now: number,
): Promise<MemoryDecision> {
  const { transition, subject } = planned
  if (transition.kind === 'custom') {
    const changed = new Map([...tables].map(([name, rows]) => [name, new Map(rows)]))
    const { source, deliveryId } = delivery
    const result = await transition.apply(changed, { source, deliveryId, payload: planned.payload })
    const judgement = { outcome: result.outcome, remainingMs: result.dueInMs ?? 1000 }
    const handling = handleJudgement(judgement, planned.notDue)
    const actions = result.outcome === 'applied' ? (result.actions ?? []) : []
    return { outcome: result.outcome, handling, subject, actions, tables: changed }
  }
  const facts = readFacts(transition, subject, tables, now)
  const judgement = judgeConditionalUpdate(facts, transition.from, planned.guardMs)
  const handling = handleJudgement(judgement, planned.notDue)
  if (judgement.outcome !== 'applied') {
    return { outcome: judgement.outcome, handling, subject, actions: [], tables }
  }
  const { row } = judgement.facts
  const applied = applyRow(transition, subject, tables)
  await transition.onApplied?.(applied, subject, row)
  return { outcome: 'applied', handling, subject, actions: transition.actions(subject, row), tables: applied }
}

function readFacts(update: ConditionalUpdate, subject: string, tables: MemoryTables, now: number): RowFacts | null {
  const row = tables.get(update.table)?.get(subject)
  if (row === undefined) return null
  const due = row[update.dueAtColumn]
  const dueMs = due instanceof Date ? due.getTime() : typeof due === 'number' && Number.isFinite(due) ? due : null
  return {
    subject,
    state: String(row[update.stateColumn]),
    dueMs,
    isDue: dueMs !== null && dueMs <= now,
    remainingMs: dueMs === null ? 0 : Math.max(0, dueMs - now),
    row,
  }
}

function applyRow(update: ConditionalUpdate, subject: string, tables: MemoryTables): MemoryTables {
  const rows = tables.get(update.table) ?? new Map()
  const row = { ...rows.get(subject), [update.stateColumn]: update.to }
  return addTo(tables, update.table, addTo(rows, subject, row))
}

/** Subjects whose deadline passed `graceMs` ago and that nobody changed, longest overdue first. */
export function findOverdue(update: ConditionalUpdate, tables: MemoryTables, now: number): readonly RowFacts[] {
  const grace = update.sweep?.graceMs ?? 0
  return [...(tables.get(update.table) ?? new Map()).keys()]
    .flatMap((subject) => readFacts(update, subject, tables, now - grace) ?? [])
    .filter((facts) => facts.state === update.from && facts.isDue)
    .sort((a, b) => (a.dueMs ?? 0) - (b.dueMs ?? 0))
}
