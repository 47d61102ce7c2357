import type { KeyRule, Transition } from '@counterfoil/core'
import { z } from 'zod'
import { checkDestination } from './check-destination.js'
import { checkOperators } from './check-operators.js'
import { checkPaths, checkSharedSecrets, checkSource } from './check-source.js'
import { MIN_SECRET_BYTES } from './defaults.js'
import type { ConfigDefinition } from './definition.js'
import { describeConfig } from './describe-config.js'
import { type DestinationParts, destinationSchema } from './destination-schema.js'
import { withEndpoint } from './endpoints.js'
import { findTransitions } from './find-transitions.js'
import { outlineSource } from './outline-source.js'
import { listUnknownNames, parseEntries } from './parse-entries.js'
import { error } from './problem.js'
import type { SecretSurroundings } from './read-secret.js'
import { resolveAccess, resolveDestination, resolveKeyRule } from './resolve-destination.js'
import { resolveKeys, resolveSource } from './resolve-source.js'
import { collectTransitions, createActionCheck } from './resolve-transitions.js'
import type { LoadResult, ResolvedConfig } from './resolved-config.js'
import { strict } from './schema-parts.js'
import { secretRef } from './secret-schema.js'
import { createSecretStore, type SecretStore } from './secret-store.js'
import { chooseSourceSchema } from './source-schema.js'

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
  if (typeof definition !== 'object' || definition === null || Array.isArray(definition)) {
    return {
      kind: 'invalid',
      problems: [error('', 'the configuration must be an object; export default defineConfig({ … })')],
    }
  }
  const given = definition as Partial<ConfigDefinition>
  const secrets = createSecretStore(options)
  const destinations = resolveDestinations(given, secrets)
  const sources = resolveSources(given, secrets, destinations.resolved)
  const operators = resolveOperators(given, secrets)
  const problems = [
    ...listUnknownNames('', given, SECTIONS),
    ...sources.problems,
    ...destinations.problems,
    ...operators.problems,
    ...secrets.problems(),
    ...sources.resolved.flatMap(({ name, path, parts, outline, keys }) =>
      checkSource({ name, path, parts, outline, keys }, options.now),
    ),
    ...checkSharedSecrets(sources.resolved),
    ...checkPaths(sources.resolved),
    ...destinations.resolved.flatMap(({ path, parts, contract }) => checkDestination(path, parts, contract)),
    ...checkOperators(operators.resolved),
  ]
  if (problems.some(({ severity }) => severity === 'error')) return { kind: 'invalid', problems }
  const described = {
    sources: sources.resolved,
    destinations: destinations.resolved,
    operators: operators.resolved,
    transitions: sources.transitions,
  }
  const config: ResolvedConfig = {
    sources: new Map(sources.resolved.map(({ name, contract }) => [name, contract])),
    destinations: new Map(destinations.resolved.map(({ name, contract }) => [name, contract])),
    transitions: new Map(sources.transitions),
    operators: new Map(operators.resolved.map(({ name, operator }) => [name, operator])),
    describe: () => describeConfig(described),
    reloadSecrets: () => secrets.reload(),
  }
  return { kind: 'loaded', config, problems }
}

function resolveSources(
  given: Partial<ConfigDefinition>,
  secrets: SecretStore,
  destinations: readonly { readonly name: string; readonly keyRule: KeyRule }[],
) {
  const parsed = parseEntries('sources', given.sources, chooseSourceSchema)
  const found = findTransitions(parsed.entries, given.transitions)
  const checkActions = createActionCheck(new Map(destinations.map(({ name, keyRule }) => [name, keyRule])))
  const { byOriginal, problems } = collectTransitions(found.transitions, checkActions)
  const transitionOf = (transition: Transition) => byOriginal.get(transition) ?? transition
  const resolved = parsed.entries.map((entry) => {
    const outline = outlineSource(entry.parts)
    const keys = resolveKeys(entry.path, entry.parts, outline, secrets)
    const contract = resolveSource(entry.name, entry.parts, outline, keys, { transitionOf, checkActions })
    return { ...entry, outline, keys, contract }
  })
  return {
    resolved,
    transitions: [...byOriginal.values()].map((transition) => [transition.name, transition] as const),
    problems: [...parsed.problems, ...found.problems, ...problems],
  }
}

function resolveDestinations(given: Partial<ConfigDefinition>, secrets: SecretStore) {
  const schema: z.ZodType<DestinationParts> = z.preprocess(withEndpoint, destinationSchema)
  const { entries, problems } = parseEntries('destinations', given.destinations, () => schema)
  const resolved = entries.map((entry) => {
    const access = resolveAccess(entry.path, entry.parts, secrets)
    const keyRule = resolveKeyRule(entry.parts)
    return { ...entry, access, keyRule, contract: resolveDestination(entry.name, entry.parts, access) }
  })
  return { resolved, problems }
}

function resolveOperators(given: Partial<ConfigDefinition>, secrets: SecretStore) {
  const { entries, problems } = parseEntries('operators', given.operators ?? {}, () =>
    strict({ token: secretRef, approver: z.boolean().optional() }),
  )
  const resolved = entries.map(({ name, path, parts }) => {
    const cell = secrets.read(`${path}.token`, parts.token, { minBytes: MIN_SECRET_BYTES, inHeader: true })
    const approver = parts.approver ?? false
    const operator = {
      name,
      approver,
      get token() {
        return cell.bytes()
      },
    }
    return { name, path, cell, approver, operator }
  })
  return { resolved, problems }
}
