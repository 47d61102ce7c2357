/** A start that was refused, with one sentence per problem. Exit code 2: configuration or set-up; 7: not reachable. */
export class WorkerStartRefused extends Error {
  override readonly name = 'WorkerStartRefused'
  readonly problems: readonly string[]
  readonly exitCode: 2 | 7

  constructor(problems: readonly string[], exitCode: 2 | 7) {
    super(problems.join('\n'))
    this.problems = problems
    this.exitCode = exitCode
  }
}
