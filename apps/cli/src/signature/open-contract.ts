import type { SourceContract } from '@counterfoil/core'
import { createNamedPreset, PRESET_NAMES, type Preset } from '@counterfoil/sources'
import { CommandFailure } from '../terminal/command-failure.js'
import { EXIT } from '../terminal/exit-codes.js'
import { findSource } from '../terminal/find-source.js'
import { findConfigPath, openConfig } from '../terminal/open-service.js'
import type { Terminal } from '../terminal/terminal.js'
import type { ContractOptions } from './contract-options.js'

export type NamedContract =
  | { readonly kind: 'source'; readonly contract: SourceContract }
  | { readonly kind: 'preset'; readonly preset: Preset; readonly publicUrl: string | null }

/** The source or preset that the options name; ends the command where they name none or both. */
export async function openContract(terminal: Terminal, options: ContractOptions): Promise<NamedContract> {
  if (options.preset !== undefined && options.source !== undefined) throw usage('--source and --preset are both given')
  if (options.preset !== undefined) {
    return { kind: 'preset', preset: openPreset(options.preset, options), publicUrl: options.url ?? null }
  }
  if (options.source === undefined) {
    throw usage(
      'whose signature is it?',
      'give --source <name> of the configuration, or --preset <name> with its secret',
    )
  }
  if (options.secretEnv !== undefined || options.secretFile !== undefined) {
    throw usage('a source brings its own keys', 'leave --secret-env and --secret-file out, or use --preset')
  }
  const config = await openConfig(terminal, findConfigPath(terminal, options.config))
  return { kind: 'source', contract: findSource(config, options.source) }
}

function openPreset(name: string, options: ContractOptions): Preset {
  const named = createNamedPreset(name, collectPresetOptions(options))
  switch (named.kind) {
    case 'preset':
      return named.preset
    case 'unknown':
      throw usage(`there is no preset ${name}`, `there are ${PRESET_NAMES.join(', ')}`)
    case 'unusable':
      throw usage(`preset ${name}: ${named.why}`, 'docs/sources has a page for each sender')
  }
}

function collectPresetOptions({
  option,
  topic,
  audience,
  serviceAccount,
}: ContractOptions): ReadonlyMap<string, string> {
  const all = new Map(option)
  if (topic !== undefined) all.set('topicArns', topic)
  if (audience !== undefined) all.set('audience', audience)
  if (serviceAccount !== undefined) all.set('serviceAccounts', serviceAccount)
  return all
}

function usage(what: string, next: string | null = null): CommandFailure {
  return new CommandFailure(EXIT.usage, what, next)
}
