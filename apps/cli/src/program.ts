import { Command } from 'commander'
import { registerApprove } from './commands/approve.js'
import { registerCancel } from './commands/cancel.js'
import { registerConfig } from './commands/config.js'
import { registerDemo } from './commands/demo.js'
import { registerDev } from './commands/dev.js'
import { registerDoctor } from './commands/doctor.js'
import { registerFind } from './commands/find.js'
import { registerMigrate } from './commands/migrate.js'
import { registerPlan } from './commands/plan.js'
import { registerPush } from './commands/push.js'
import { registerReceiver } from './commands/receiver.js'
import { registerReconcile } from './commands/reconcile.js'
import { registerReconcileSource } from './commands/reconcile-source.js'
import { registerRedrive } from './commands/redrive.js'
import { registerRelease } from './commands/release.js'
import { registerSendAgain } from './commands/send-again.js'
import { registerSettle } from './commands/settle.js'
import { registerShow } from './commands/show.js'
import { registerSign } from './commands/sign.js'
import { registerVerify } from './commands/verify.js'
import { registerWorker } from './commands/worker.js'
import { EXIT_MEANINGS, type ExitCode } from './terminal/exit-codes.js'
import type { Terminal } from './terminal/terminal.js'

export type Registration = (program: Command, terminal: Terminal, exit: (code: ExitCode) => void) => void

const COMMANDS: readonly Registration[] = [
  registerReceiver,
  registerWorker,
  registerMigrate,
  registerConfig,
  registerShow,
  registerFind,
  registerPush,
  registerVerify,
  registerSign,
  registerRedrive,
  registerSettle,
  registerCancel,
  registerSendAgain,
  registerApprove,
  registerPlan,
  registerReconcile,
  registerReconcileSource,
  registerRelease,
  registerDoctor,
  registerDev,
  registerDemo,
]

/** The whole command tree. A command reports its exit code through `exit`; what it throws is a failure. */
export function createProgram(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  const program = new Command('counterfoil')
    .description('Takes responsibility for signed pushes, and answers what came of them.')
    .version('0.1.0')
    .option('--no-color', 'never colour the output (so does NO_COLOR)')
    .helpCommand(false)
    .showHelpAfterError('(--help lists what this command takes)')
    .addHelpText('after', `\nExit codes:\n${exitCodeLines()}\n`)
  for (const register of COMMANDS) register(program, terminal, exit)
  for (const command of [program, ...descendants(program)]) {
    command.exitOverride()
    command.configureOutput({ writeOut: terminal.out, writeErr: terminal.err })
  }
  return program
}

function exitCodeLines(): string {
  return [...EXIT_MEANINGS].map(([code, meaning]) => `  ${String(code).padStart(3)}  ${meaning}`).join('\n')
}

function descendants(command: Command): Command[] {
  return command.commands.flatMap((child) => [child, ...descendants(child)])
}
