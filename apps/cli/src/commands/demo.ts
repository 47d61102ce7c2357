import type { Registration } from '../program.js'
import type { Terminal } from '../terminal/terminal.js'

export const registerDemo: Registration = (program, terminal, exit) => {
  program
    .command('demo')
    .description('play the three examples against real processes, and check every verdict against their ledgers')
    .option('--serve', 'keep the data in .counterfoil and go on serving until Ctrl-C')
    .option('--json', 'print one JSON document; everything else goes to stderr')
    .action(async ({ serve, json }: { serve?: true; json?: true }) => {
      const { runDemo } = await import('../demo/run-demo.js')
      exit(await runDemo(withTermination(terminal), { serve: serve === true, json: json === true }))
    })
}

/** Ended by a supervisor or a closed terminal, it stops its processes just as at Ctrl-C. */
function withTermination(terminal: Terminal): Terminal {
  const terminated = new AbortController()
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.once(signal, () => terminated.abort())
  return { ...terminal, interrupted: AbortSignal.any([terminal.interrupted, terminated.signal]) }
}
