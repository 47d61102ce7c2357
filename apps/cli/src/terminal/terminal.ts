import type { Readable } from 'node:stream'
import picocolors from 'picocolors'

export type Paint = ReturnType<typeof picocolors.createColors>

/** Everything that a command touches of its surroundings, so that tests can hand it another. */
export type Terminal = {
  /** Data, and nothing else. Bytes where they must stay as they are. */
  readonly out: (data: string | Buffer) => void
  /** Everything that is not data. */
  readonly err: (text: string) => void
  readonly stdin: Readable
  readonly env: Readonly<Record<string, string | undefined>>
  readonly isTty: boolean
  readonly paint: Paint
  /**
   * Aborts on the first SIGINT or SIGTERM. Whoever reads it takes over ending the command in good order; until then a
   * signal ends it at once.
   */
  readonly interrupted: AbortSignal
}

/** The real one. Colours only where somebody can see them: not in a pipe, with NO_COLOR or on a dumb terminal. */
export function openTerminal(signal: AbortSignal, onObserved: () => void): Terminal {
  return {
    out: (data) => void process.stdout.write(data),
    err: (text) => void process.stderr.write(text),
    stdin: process.stdin,
    env: process.env,
    isTty: process.stdout.isTTY === true,
    paint: picocolors.createColors(mayColour(process.env, process.stdout.isTTY === true, process.argv)),
    get interrupted() {
      onObserved()
      return signal
    },
  }
}

/** picocolors also colours when CI is set; a log file of a CI run is not a terminal, so that is left out. */
function mayColour(
  env: Readonly<Record<string, string | undefined>>,
  isTty: boolean,
  argv: readonly string[],
): boolean {
  if (env.NO_COLOR || argv.includes('--no-color')) return false
  if (env.FORCE_COLOR && env.FORCE_COLOR !== '0') return true
  return isTty && env.TERM !== 'dumb'
}
