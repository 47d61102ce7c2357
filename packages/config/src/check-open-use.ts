import { SWEEP_SOURCE } from '@counterfoil/core'
import { formatPath } from './format-path.js'
import { suggestName } from './nearest-name.js'
import { type ConfigProblem, error } from './problem.js'
import type { ResolvedConfig } from './resolved-config.js'

/** Why a source, or a route of it, is still needed; what the database knows. */
export type SourceUse =
  | { readonly kind: 'deferred'; readonly source: string; readonly eventType: string | null }
  | { readonly kind: 'quarantined' | 'entries'; readonly source: string }

const OPEN: Readonly<Record<SourceUse['kind'], string>> = {
  deferred: 'deliveries that wait for their time',
  quarantined: 'quarantined deliveries that nobody has released or discarded',
  entries: 'entries to send',
}

/**
 * A source, a destination or a transition's route that still has open work must not disappear from the configuration:
 * its work would have no exit (I12). The facts come from the database.
 */
export function checkOpenUse(
  config: Pick<ResolvedConfig, 'sources' | 'destinations'>,
  uses: readonly SourceUse[],
  openDestinations: Iterable<string>,
): readonly ConfigProblem[] {
  const destinations = [...new Set(openDestinations)].filter((name) => !config.destinations.has(name))
  return [
    ...checkOpenSources(config.sources, uses),
    ...destinations.map((name) =>
      missing('destinations', name, `destination "${name}" still has ${OPEN.entries}`, config.destinations.keys()),
    ),
  ]
}

/** The part of `checkOpenUse` that is about sources and their routes. */
export function checkOpenSources(
  sources: ResolvedConfig['sources'],
  uses: readonly SourceUse[],
): readonly ConfigProblem[] {
  const pushed = uses.filter(({ source }) => source !== SWEEP_SOURCE)
  const names = [...new Set(pushed.map(({ source }) => source))].filter((name) => !sources.has(name))
  return [
    ...names.map((name) => {
      const kinds = new Set(pushed.filter(({ source }) => source === name).map(({ kind }) => OPEN[kind]))
      return missing('sources', name, `source "${name}" still has ${[...kinds].join(' and ')}`, sources.keys())
    }),
    ...pushed.flatMap((use) => (use.kind === 'deferred' ? checkRoute(sources, use.source, use.eventType) : [])),
  ]
}

function checkRoute(
  sources: ResolvedConfig['sources'],
  name: string,
  eventType: string | null,
): readonly ConfigProblem[] {
  const source = sources.get(name)
  // Without a type on record it is read from the body again when its time comes.
  if (source === undefined || (eventType === null && source.eventType !== null)) return []
  const route = (eventType === null ? undefined : source.routes.get(eventType)) ?? source.otherwise
  if (route !== null && route.transition !== null) return []
  const place = eventType === null ? ['otherwise'] : ['routes', eventType]
  return [missing(formatPath('sources', [name, ...place]), null, `its transition still has ${OPEN.deferred}`, [])]
}

function missing(section: string, name: string | null, what: string, known: Iterable<string>): ConfigProblem {
  const near = name === null ? '' : suggestName(name, known)
  const path = name === null ? section : formatPath(section, [name])
  return error(path, `${what} and can't be removed or renamed${near}; put it back until nothing of it is open`)
}
