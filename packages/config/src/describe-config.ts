import type { Transition } from '@counterfoil/core'
import { type DescribedDestination, describeDestination } from './describe-destination.js'
import { type DescribedSource, describeSource } from './describe-source.js'
import { formatDuration } from './duration.js'
import type { SecretCell } from './secret-store.js'

export type Described = {
  readonly sources: readonly DescribedSource[]
  readonly destinations: readonly DescribedDestination[]
  readonly operators: readonly { readonly name: string; readonly cell: SecretCell; readonly approver: boolean }[]
  readonly transitions: readonly (readonly [string, Transition])[]
}

/** What is in effect, defaults included, fit to be printed: secrets appear as references only. */
export function describeConfig(described: Described): Record<string, unknown> {
  return {
    sources: fromNamed(described.sources, describeSource),
    destinations: fromNamed(described.destinations, describeDestination),
    operators: fromNamed(described.operators, ({ cell, approver }) => ({ token: cell.describe(), approver })),
    transitions: Object.fromEntries(
      described.transitions.map(([name, transition]) => [name, describeTransition(transition)]),
    ),
  }
}

function describeTransition(transition: Transition): Record<string, unknown> {
  if (transition.kind === 'custom') return { kind: 'custom' }
  const { table, idColumn, stateColumn, from, to, dueAtColumn, sweep } = transition
  return {
    kind: 'conditional_update',
    table,
    idColumn,
    stateColumn,
    from,
    to,
    dueAtColumn,
    sweep: sweep && { every: formatDuration(sweep.everyMs), grace: formatDuration(sweep.graceMs), batch: sweep.batch },
  }
}

function fromNamed<T extends { readonly name: string }>(
  entries: readonly T[],
  describe: (entry: T) => Record<string, unknown>,
): Record<string, unknown> {
  return Object.fromEntries(entries.map((entry) => [entry.name, describe(entry)]))
}
