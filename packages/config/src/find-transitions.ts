import type { Transition } from '@counterfoil/core'
import { z } from 'zod'
import { formatPath } from './format-path.js'
import { listIssues, type ParsedEntry } from './parse-entries.js'
import type { ConfigProblem } from './problem.js'
import type { SourceParts } from './source-schema.js'
import { transitionSchema } from './transition-schema.js'

export type FoundTransition = { readonly path: string; readonly transition: Transition }

const looseTransitions = z.array(transitionSchema, { error: 'must be a list of transitions' })

/** Every transition of a configuration with the place that names it: those of routes, and those declared on their own. */
export function findTransitions(
  sources: readonly ParsedEntry<SourceParts>[],
  loose: unknown,
): { readonly transitions: readonly FoundTransition[]; readonly problems: readonly ConfigProblem[] } {
  const parsed = looseTransitions.safeParse(loose ?? [])
  const declared = (parsed.data ?? []).map((transition, index) => ({ path: `transitions[${index}]`, transition }))
  return {
    transitions: [...sources.flatMap(findInRoutes), ...declared],
    problems: listIssues('transitions', parsed.error?.issues ?? []),
  }
}

function findInRoutes({ path, parts }: ParsedEntry<SourceParts>): readonly FoundTransition[] {
  const routes = Object.entries(parts.routes).map(([type, route]) => ({
    at: formatPath(path, ['routes', type]),
    route,
  }))
  if (parts.otherwise !== undefined) routes.push({ at: `${path}.otherwise`, route: parts.otherwise })
  return routes.flatMap(({ at, route }) =>
    route.transition === undefined ? [] : [{ path: `${at}.transition.use`, transition: route.transition.use }],
  )
}
