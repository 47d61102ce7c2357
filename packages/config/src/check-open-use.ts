import { SWEEP_SOURCE } from './check-source.js'
import { suggestName } from './nearest-name.js'
import { type ConfigProblem, error } from './problem.js'
import type { ResolvedConfig } from './resolved-config.js'

/**
 * A source or destination that still has open work must not disappear from the configuration: its entries would have no
 * exit (I12). The facts come from the database: names with deferred deliveries, and with entries that are not final.
 */
export function checkOpenUse(
  config: Pick<ResolvedConfig, 'sources' | 'destinations'>,
  openSources: Iterable<string>,
  openDestinations: Iterable<string>,
): readonly ConfigProblem[] {
  return [
    ...listMissing(
      'sources',
      'source',
      [...openSources].filter((name) => name !== SWEEP_SOURCE),
      config.sources,
    ),
    ...listMissing('destinations', 'destination', openDestinations, config.destinations),
  ]
}

function listMissing(
  section: string,
  what: string,
  open: Iterable<string>,
  configured: ReadonlyMap<string, unknown>,
): readonly ConfigProblem[] {
  return [...new Set(open)]
    .filter((name) => !configured.has(name))
    .map((name) => {
      const near = suggestName(name, configured.keys())
      return error(
        `${section}.${name}`,
        `${what} "${name}" still has open work and can't be removed or renamed${near}; put it back until nothing of it is open`,
      )
    })
}
