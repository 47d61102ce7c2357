#!/usr/bin/env node
import { runCli } from './run-cli.js'
import { EXIT } from './terminal/exit-codes.js'
import { openTerminal } from './terminal/terminal.js'

const interruption = new AbortController()
let isObserved = false
const terminal = openTerminal(interruption.signal, () => {
  isObserved = true
})
const SIGNALS = ['SIGINT', 'SIGTERM'] as const
for (const signal of SIGNALS) process.on(signal, interrupt)
// A reader that went away (`counterfoil find … | head`) is not an error of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failure)
})

process.exitCode = await runCli(process.argv.slice(2), terminal)
for (const signal of SIGNALS) process.off(signal, interrupt)

/** The first signal lets a command that can say where it stopped do so; a second one waits for nothing. */
function interrupt(): void {
  if (!isObserved || interruption.signal.aborted) process.exit(EXIT.interrupted)
  interruption.abort()
}
