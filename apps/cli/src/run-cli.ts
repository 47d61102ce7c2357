import { CommanderError } from 'commander'
import { createProgram } from './program.js'
import { escapeForTerminal } from './render/escape-for-terminal.js'
import { CommandFailure } from './terminal/command-failure.js'
import { EXIT, type ExitCode } from './terminal/exit-codes.js'
import type { Terminal } from './terminal/terminal.js'

/** Runs one command line (without node and script) and returns its exit code. Never throws. */
export async function runCli(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  let code: ExitCode = EXIT.ok
  const program = createProgram(terminal, (exitCode) => {
    code = exitCode
  })
  try {
    await program.parseAsync([...args], { from: 'user' })
    return code
  } catch (error) {
    return reportFailure(terminal, error)
  }
}

function reportFailure(terminal: Terminal, error: unknown): ExitCode {
  // commander has already printed its help or its complaint.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  if (error instanceof CommandFailure) {
    print(terminal, error.message, error.details, error.next)
    return error.exitCode
  }
  const refusal = readRefusal(error)
  if (refusal !== null) {
    print(terminal, 'it did not start', refusal.problems, null)
    return refusal.exitCode
  }
  if (terminal.interrupted.aborted) return EXIT.interrupted
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error)
  terminal.err(`counterfoil: unexpected error\n${stack.split('\n').map(escapeForTerminal).join('\n')}\n`)
  return EXIT.failure
}

function print(terminal: Terminal, what: string, details: readonly string[], next: string | null): void {
  terminal.err(`counterfoil: ${escapeForTerminal(what)}\n`)
  for (const line of details) terminal.err(`  ${escapeForTerminal(line)}\n`)
  if (next !== null) terminal.err(`  next: ${escapeForTerminal(next)}\n`)
}

/** A server that refused to start says why in sentences, and which exit code goes with them. */
function readRefusal(error: unknown): { readonly problems: readonly string[]; readonly exitCode: ExitCode } | null {
  if (!(error instanceof Error) || !('problems' in error) || !('exitCode' in error)) return null
  const { problems, exitCode } = error
  if (!Array.isArray(problems) || (exitCode !== EXIT.usage && exitCode !== EXIT.unreachable)) return null
  return { problems: problems.map(String), exitCode }
}
