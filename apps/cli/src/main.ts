#!/usr/bin/env node
import { runCli } from './run-cli.js'
import { EXIT } from './terminal/exit-codes.js'
import { openTerminal } from './terminal/terminal.js'

const SAME_SIGNAL_MS = 500

const interruption = new AbortController()
let interruptedAt = 0
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

/**
 * The first signal lets a command that can say where it stopped do so; a second one waits for nothing. One that follows
 * at once is still the first: a wrapper such as npm passes on what the terminal has already sent to everybody.
 */
function interrupt(): void {
  if (!isObserved) process.exit(EXIT.interrupted)
  if (!interruption.signal.aborted) {
    interruptedAt = performance.now()
    interruption.abort()
  } else if (performance.now() - interruptedAt > SAME_SIGNAL_MS) process.exit(EXIT.interrupted)
}
