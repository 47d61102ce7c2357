import type { ExitCode } from './exit-codes.js'

/** Ends a command: what went wrong and why, what to do next, and the exit code. Only `runCli` catches it. */
export class CommandFailure extends Error {
  readonly exitCode: ExitCode
  readonly next: string | null
  /** Further lines, such as one per problem of a configuration. */
  readonly details: readonly string[]

  constructor(exitCode: ExitCode, message: string, next: string | null = null, details: readonly string[] = []) {
    super(message)
    this.name = 'CommandFailure'
    this.exitCode = exitCode
    this.next = next
    this.details = details
  }
}
