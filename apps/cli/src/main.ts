#!/usr/bin/env node
import { runCli } from './run-cli.js'
import { EXIT } from './terminal/exit-codes.js'
import { openTerminal } from './terminal/terminal.js'

const interruption = new AbortController()
process.on('SIGINT', onInterrupt)
// A reader that went away (`counterfoil find … | head`) is not an error of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) =>
  process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failure),
)

const code = await runCli(process.argv.slice(2), openTerminal(interruption.signal))
process.off('SIGINT', onInterrupt)
process.exitCode = code

function onInterrupt(): void {
  // The first Ctrl-C lets a command say where it stopped; the second does not wait for that.
  if (interruption.signal.aborted) process.exit(EXIT.interrupted)
  interruption.abort()
}
