import {
  type ConditionalUpdate,
  freezeAction,
  type Handling,
  handleJudgement,
  type Judgement,
  judgeInOrder,
  type NotDuePolicy,
  type TransitionOutcome,
} from '@counterfoil/core'
import type { AskedEntry } from '../claim/encode-entries.js'
import type { LockedRow } from './lock-subjects.js'

/** One delivery that asks for a conditional update. `id`: the subject as the table writes ids; `null`: it can't be one. */
export type ConditionalAsk = {
  readonly deliveryUuid: string
  readonly subject: string
  readonly id: string | null
  readonly guardMs: number | null
  readonly notDue: NotDuePolicy
}

export type ConditionalDecision = {
  readonly ask: ConditionalAsk
  readonly handling: Handling
  readonly outcome: TransitionOutcome
  /** The row's own id where there is a row, so that push, deferral and sweep speak of one subject. */
  readonly subject: string
  readonly row: LockedRow | null
  readonly entries: readonly AskedEntry[]
  /** Why the owner's `actions` could not be had; the delivery must not be claimed then. */
  readonly broken: string | null
}

/** Judges in arrival order and freezes the actions of what applied. Pure but for the owner's own `actions`. */
export function decideConditional(
  transition: ConditionalUpdate,
  asks: readonly ConditionalAsk[],
  rows: ReadonlyMap<string, LockedRow>,
  newId: () => string,
): readonly ConditionalDecision[] {
  const questions = asks.map((ask) => ({ key: ask.id ?? '', guardMs: ask.guardMs }))
  const judgements = judgeInOrder(questions, rows, transition)
  return asks.map((ask, index) => {
    const judgement = judgements[index] ?? { outcome: 'not_found' as const }
    return describe(transition, ask, judgement, ask.id === null ? null : (rows.get(ask.id) ?? null), newId)
  })
}

function describe(
  transition: ConditionalUpdate,
  ask: ConditionalAsk,
  judgement: Judgement,
  row: LockedRow | null,
  newId: () => string,
): ConditionalDecision {
  const decision = {
    ask,
    handling: handleJudgement(judgement, ask.notDue),
    outcome: judgement.outcome,
    subject: row?.subject ?? ask.subject,
    row,
    entries: [],
    broken: null,
  }
  if (judgement.outcome !== 'applied') return decision
  return { ...decision, ...freezeActions(transition, ask.deliveryUuid, judgement.facts, newId) }
}

export function freezeActions(
  transition: ConditionalUpdate,
  deliveryUuid: string,
  facts: { readonly subject: string; readonly row: LockedRow['row'] },
  newId: () => string,
): { readonly entries: readonly AskedEntry[]; readonly broken: string | null } {
  try {
    const drafts = transition.actions(facts.subject, facts.row)
    return { entries: drafts.map((draft) => ({ deliveryUuid, entry: freezeAction(draft, newId) })), broken: null }
  } catch (error) {
    // The message of a foreign error may quote a row; its class can't (I10).
    const name = error instanceof Error ? error.name : typeof error
    return { entries: [], broken: `actions of transition ${transition.name} threw ${name}` }
  }
}
