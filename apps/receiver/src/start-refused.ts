/** Exit codes of a start that was refused: 2 for configuration and set-up, 7 for a dependency that is not reachable. */
export type RefusalExitCode = 2 | 7

/** Why the receiver did not start: one clear sentence per problem, and the exit code that goes with them. */
export class StartRefused extends Error {
  override readonly name = 'StartRefused'
  readonly problems: readonly string[]
  readonly exitCode: RefusalExitCode

  constructor(problems: readonly string[], exitCode: RefusalExitCode) {
    super(problems.join('\n'))
    this.problems = problems
    this.exitCode = exitCode
  }
}
