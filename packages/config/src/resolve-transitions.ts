import { type ActionDraft, ConfigurationBug, type KeyRule, type Transition } from '@counterfoil/core'
import { suggestName } from './nearest-name.js'
import { type ConfigProblem, error } from './problem.js'

/**
 * Gives each action the key rule of its destination. Throws `ConfigurationBug` for an action whose destination nobody
 * declared: the claim is refused, nothing is lost.
 */
export function createActionCheck(
  destinations: ReadonlyMap<string, KeyRule>,
): (drafts: readonly ActionDraft[]) => readonly ActionDraft[] {
  return (drafts) =>
    drafts.map((draft) => {
      const keyRule = destinations.get(draft.destination)
      if (keyRule !== undefined) return { ...draft, keyRule }
      const near = suggestName(String(draft.destination), destinations.keys())
      throw new ConfigurationBug(`an action names destination "${draft.destination}", which is not configured${near}`)
    })
}

/** Transitions by name, each once, with their actions checked; the same name on two of them is a problem. */
export function collectTransitions(
  found: readonly { readonly path: string; readonly transition: Transition }[],
  checkActions: ReturnType<typeof createActionCheck>,
): { readonly byOriginal: Map<Transition, Transition>; readonly problems: readonly ConfigProblem[] } {
  const byOriginal = new Map<Transition, Transition>()
  const firstPlace = new Map<string, string>()
  const problems: ConfigProblem[] = []
  for (const { path, transition } of found) {
    if (byOriginal.has(transition)) continue
    const taken = firstPlace.get(transition.name)
    if (taken !== undefined) {
      problems.push(
        error(
          path,
          `another transition is called "${transition.name}" (${taken}); names are evidence, give it its own`,
        ),
      )
    }
    firstPlace.set(transition.name, taken ?? path)
    byOriginal.set(transition, withCheckedActions(transition, checkActions))
  }
  return { byOriginal, problems }
}

function withCheckedActions(transition: Transition, check: ReturnType<typeof createActionCheck>): Transition {
  if (transition.kind === 'conditional_update') {
    return { ...transition, actions: (subject, row) => check(transition.actions(subject, row)) }
  }
  return {
    ...transition,
    apply: async (trx, delivery) => {
      const result = await transition.apply(trx, delivery)
      return result.actions === undefined ? result : { ...result, actions: check(result.actions) }
    },
  }
}
