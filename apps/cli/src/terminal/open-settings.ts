import {
  type ConfigProblem,
  formatProblem,
  type Logger,
  type ProcessRole,
  readSettings,
  type Settings,
} from '@counterfoil/config'
import { CommandFailure } from './command-failure.js'
import { EXIT } from './exit-codes.js'
import type { Terminal } from './terminal.js'

/** The settings of this process from its environment; ends the command with every problem at once. */
export function openSettings(terminal: Terminal, role: ProcessRole = 'receiver', log: Logger | null = null): Settings {
  const read = readSettings(terminal.env, role)
  if (read.kind === 'invalid') throw invalid('the settings in the environment are invalid', read.problems)
  warn(terminal, read.problems, log)
  return read.settings
}

/** The failure that lists problems, each on a line of its own. */
export function invalid(what: string, problems: readonly ConfigProblem[]): CommandFailure {
  const lines = problems.map((problem) => formatProblem(problem))
  return new CommandFailure(EXIT.usage, what, 'correct it; docs/configuration.md names every setting', lines)
}

/** Warnings never stop a command, and never mix with data. */
export function warn(terminal: Terminal, problems: readonly ConfigProblem[], log: Logger | null = null): void {
  for (const problem of problems) {
    if (log === null) terminal.err(`counterfoil: ${formatProblem(problem)}\n`)
    else log.warn({ path: problem.path }, problem.message)
  }
}
