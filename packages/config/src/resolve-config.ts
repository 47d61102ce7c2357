import type { Transition } from '@counterfoil/core'
import { z } from 'zod'
import { checkDestination } from './check-destination.js'
import { checkOperators } from './check-operators.js'
import { checkSource } from './check-source.js'
import { MIN_SECRET_BYTES } from './defaults.js'
import type { ConfigDefinition } from './definition.js'
import { describeConfig } from './describe-config.js'
import { type DestinationParts, destinationSchema } from './destination-schema.js'
import { formatPath } from './format-path.js'
import { listIssues, listUnknownNames, type ParsedEntry, parseEntries } from './parse-entries.js'
import { type ConfigProblem, error } from './problem.js'
import type { SecretSurroundings } from './read-secret.js'
import { resolveDestination, resolveHeaders } from './resolve-destination.js'
import { resolveKeys, resolveSource } from './resolve-source.js'
import { collectTransitions, createActionCheck } from './resolve-transitions.js'
import type { LoadResult, ResolvedConfig } from './resolved-config.js'
import { strict } from './schema-parts.js'
import { secretRef } from './secret-schema.js'
import { createSecretStore } from './secret-store.js'
import { type SourceParts, sourceSchema } from './source-schema.js'
import { transitionSchema } from './transition-schema.js'

const SECTIONS = ['sources', 'destinations', 'operators', 'transitions'] as const

export type ResolveOptions = SecretSurroundings & {
  /** Epoch ms: which keys are active. */
  readonly now: number
}

/**
 * Checks a definition as a whole and resolves it: shapes, secrets, and the rules between values. All problems at once;
 * nothing is connected to. Pure but for reading secrets.
 */
export function resolveConfig(definition: unknown, options: ResolveOptions): LoadResult {
  if (typeof definition !== 'object' || definition === null) {
    return {
      kind: 'invalid',
      problems: [error('', 'the configuration must be an object; export default defineConfig({ … })')],
    }
  }
  const given = definition as Partial<ConfigDefinition>
  const secrets = createSecretStore(options)
  const sources = parseEntries('sources', given.sources, sourceSchema as z.ZodType<SourceParts>)
  const destinations = parseEntries(
    'destinations',
    given.destinations,
    destinationSchema as z.ZodType<DestinationParts>,
  )
  const operators = parseEntries('operators', given.operators ?? {}, strict({ token: secretRef }))
  const loose = z.array(transitionSchema, { error: 'must be a list of transitions' }).safeParse(given.transitions ?? [])

  const checkActions = createActionCheck(new Set(Object.keys(given.destinations ?? {})))
  const transitions = collectTransitions(
    [...findRouteTransitions(sources.entries), ...listLoose(loose.data ?? [])],
    checkActions,
  )
  const transitionOf = (transition: Transition) => transitions.byOriginal.get(transition) ?? transition
  const resolvedSources = sources.entries.map((entry) => {
    const keys = resolveKeys(entry.path, entry.parts, secrets)
    return { ...entry, keys, contract: resolveSource(entry.name, entry.parts, keys, { transitionOf, checkActions }) }
  })
  const resolvedDestinations = destinations.entries.map((entry) => {
    const headers = resolveHeaders(entry.path, entry.parts, secrets)
    return { ...entry, headers, contract: resolveDestination(entry.name, entry.parts, headers) }
  })
  const resolvedOperators = operators.entries.map(({ name, path, parts }) => ({
    name,
    path,
    cell: secrets.read(`${path}.token`, parts.token, { minBytes: MIN_SECRET_BYTES, inHeader: true }),
  }))

  const problems = [
    ...listUnknownNames('', given, SECTIONS),
    ...sources.problems,
    ...destinations.problems,
    ...operators.problems,
    ...listIssues('transitions', loose.error?.issues ?? []),
    ...transitions.problems,
    ...secrets.problems(),
    ...resolvedSources.flatMap(({ path, parts, keys }) => checkSource(path, parts, keys, options.now)),
    ...checkPaths(sources.entries),
    ...resolvedDestinations.flatMap(({ path, parts, contract }) => checkDestination(path, parts, contract)),
    ...checkOperators(resolvedOperators),
  ]
  if (problems.some(({ severity }) => severity === 'error')) return { kind: 'invalid', problems }
  const byName = [...transitions.byOriginal.values()].map((transition) => [transition.name, transition] as const)
  const config: ResolvedConfig = {
    sources: new Map(resolvedSources.map(({ name, contract }) => [name, contract])),
    destinations: new Map(resolvedDestinations.map(({ name, contract }) => [name, contract])),
    transitions: new Map(byName),
    operators: new Map(
      resolvedOperators.map(({ name, cell }) => [
        name,
        {
          name,
          get token() {
            return cell.bytes()
          },
        },
      ]),
    ),
    describe: () =>
      describeConfig({
        sources: resolvedSources,
        destinations: resolvedDestinations,
        operators: resolvedOperators,
        transitions: byName,
      }),
    reloadSecrets: () => secrets.reload(),
  }
  return { kind: 'loaded', config, problems }
}

function findRouteTransitions(
  sources: readonly ParsedEntry<SourceParts>[],
): { readonly path: string; readonly transition: Transition }[] {
  return sources.flatMap(({ path, parts }) => {
    const routes = Object.entries(parts.routes).map(([type, route]) => ({
      at: formatPath(path, ['routes', type]),
      route,
    }))
    if (parts.otherwise !== undefined) routes.push({ at: `${path}.otherwise`, route: parts.otherwise })
    return routes.flatMap(({ at, route }) =>
      route.transition === undefined ? [] : [{ path: `${at}.transition.use`, transition: route.transition.use }],
    )
  })
}

function listLoose(transitions: readonly Transition[]): { readonly path: string; readonly transition: Transition }[] {
  return transitions.map((transition, index) => ({ path: `transitions[${index}]`, transition }))
}

function checkPaths(sources: readonly ParsedEntry<SourceParts>[]): readonly ConfigProblem[] {
  const taken = new Map<string, string>()
  return sources.flatMap(({ name, path, parts }) => {
    const other = taken.get(parts.path)
    taken.set(parts.path, other ?? name)
    return other === undefined ? [] : [error(`${path}.path`, `${parts.path} is already the path of source "${other}"`)]
  })
}
