import { randomInt } from 'node:crypto'
import { InvalidArgumentError } from 'commander'
import type { Registration } from '../program.js'
import type { Terminal } from '../terminal/terminal.js'

export const registerDemo: Registration = (program, terminal, exit) => {
  program
    .command('demo')
    .description('play the three examples against real processes, and check every verdict against their ledgers')
    .option('--serve', 'keep the data in .counterfoil and go on serving until Ctrl-C')
    .option('--no-story', 'with --serve: serve at once')
    .option('--json', 'print one JSON document; everything else goes to stderr')
    .option('--kills <n>', 'kill receiver and worker with -9 that often meanwhile', wholeNumber, 0)
    .option('--seed <n>', 'makes the kills of a run repeatable', wholeNumber)
    .action(async ({ serve, story, json, kills, seed }: DemoFlags) => {
      const { runDemo } = await import('../demo/run-demo.js')
      const options = { serve: serve === true, story, json: json === true, kills, seed: seed ?? randomInt(1_000_000) }
      exit(await runDemo(withHangup(terminal), options))
    })
}

type DemoFlags = {
  readonly serve?: true
  readonly story: boolean
  readonly json?: true
  readonly kills: number
  readonly seed?: number
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.')
  return Number(text)
}

/** A closed terminal stops its processes just as Ctrl-C does. */
function withHangup(terminal: Terminal): Terminal {
  const hungUp = new AbortController()
  process.once('SIGHUP', () => hungUp.abort())
  return { ...terminal, interrupted: AbortSignal.any([terminal.interrupted, hungUp.signal]) }
}
