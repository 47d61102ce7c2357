/** What the exit code of every command means. Shown in `--help` and docs/cli.md; a test compares the three. */
export const EXIT = {
  ok: 0,
  failure: 1,
  usage: 2,
  notFound: 3,
  refused: 4,
  conflict: 5,
  findings: 6,
  unreachable: 7,
  tooOld: 8,
  interrupted: 130,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

export const EXIT_MEANINGS: ReadonlyMap<ExitCode, string> = new Map([
  [EXIT.ok, 'done'],
  [EXIT.failure, 'failed'],
  [EXIT.usage, 'wrong usage, or the configuration is invalid'],
  [EXIT.notFound, 'nothing was found'],
  [EXIT.refused, 'refused: identity, permission or policy'],
  [EXIT.conflict, 'conflict: the state is not what the command needs, or it changed meanwhile'],
  [EXIT.findings, 'done, with findings: something is unknown, not delivered or not valid'],
  [EXIT.unreachable, 'a dependency is unreachable or unfit'],
  [EXIT.tooOld, 'push: gave up at --max-age'],
  [EXIT.interrupted, 'interrupted'],
])
