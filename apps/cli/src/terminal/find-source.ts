import type { ResolvedConfig } from '@counterfoil/config'
import type { SourceContract } from '@counterfoil/core'
import { CommandFailure } from './command-failure.js'
import { EXIT } from './exit-codes.js'

/** The configured source of this name; ends the command where there is none. */
export function findSource(config: Pick<ResolvedConfig, 'sources'>, name: string): SourceContract {
  const source = config.sources.get(name)
  if (source !== undefined) return source
  const known = [...config.sources.keys()].join(', ')
  throw new CommandFailure(EXIT.usage, `there is no source ${name}`, `the configured ones: ${known}`)
}
