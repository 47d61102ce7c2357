import type { ConditionalUpdate, Transition } from '@counterfoil/core'
import { type Database, sweepTransition } from '@counterfoil/db'
import type { Service } from './service.js'

/** Rows that are overdue and that no push ever came for: one service per conditional update that asks for a sweep. */
export function createSweeps(
  database: Database,
  transitions: ReadonlyMap<string, Transition>,
  instance: string,
): readonly Service[] {
  return [...transitions.values()].flatMap((transition) =>
    transition.kind === 'conditional_update' && transition.sweep !== null
      ? [createSweep(database, transition, transition.sweep.everyMs, instance)]
      : [],
  )
}

function createSweep(database: Database, transition: ConditionalUpdate, everyMs: number, instance: string): Service {
  return {
    name: `sweep-${transition.name}`,
    everyMs,
    runOnce: async () => {
      const { applied, skipped, failed, more, destinations } = await sweepTransition(database, transition, { instance })
      return { counts: { applied, skipped, failed }, destinations, more }
    },
  }
}
