import {
  type ConfigProblem,
  createLogger,
  type Logger,
  loadConfig,
  type ResolvedConfig,
  type Settings,
} from '@counterfoil/config'
import { invalid, openSettings, warn } from './open-settings.js'
import type { Terminal } from './terminal.js'

export type Service = { readonly settings: Settings; readonly config: ResolvedConfig; readonly log: Logger }

/** What a server starts with. Its log lines go to stdout; ends the command where settings or configuration are wrong. */
export async function openService(terminal: Terminal, role: 'receiver' | 'worker'): Promise<Service> {
  const settings = openSettings(terminal, role)
  const log = createLogger({ level: settings.logLevel, service: role })
  const config = await openConfig(terminal, settings.configPath, (problems) => warn(terminal, problems, log))
  return { settings, config, log }
}

/** Where the configuration is when a command needs nothing else of the environment. */
export function findConfigPath(terminal: Terminal, given: string | undefined): string {
  return given ?? (terminal.env.COUNTERFOIL_CONFIG || './counterfoil.config.ts')
}

/**
 * Loads and validates the configuration; ends the command with every problem at once. Its warnings are for whoever
 * checks it or starts a server with it; an act or a push doesn't repeat them.
 */
export async function openConfig(
  terminal: Terminal,
  path: string,
  onWarnings: (problems: readonly ConfigProblem[]) => void = () => {},
): Promise<ResolvedConfig> {
  const loaded = await loadConfig({ path, env: terminal.env })
  if (loaded.kind === 'invalid') throw invalid(`the configuration ${path} is invalid`, loaded.problems)
  onWarnings(loaded.problems)
  return loaded.config
}
