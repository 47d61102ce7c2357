import { checkDatabase, checkPlacement, type Database, readDatabaseClock } from '@counterfoil/db'
import type { Registration } from '../program.js'
import { escapeForTerminal } from '../render/escape-for-terminal.js'
import { EXIT } from '../terminal/exit-codes.js'
import { withDatabase } from '../terminal/with-database.js'

type Check = { readonly name: string; readonly problems: readonly string[]; readonly unfit: boolean }

/** Half of the usual tolerance of a signed timestamp's receiver: beyond it honest pushes begin to be refused. */
const CLOCK_TOLERANCE_MS = 2_000
const PLACEMENT_TIMEOUT_MS = 120_000

export const registerDoctor: Registration = (program, terminal, exit) => {
  program
    .command('doctor')
    .description('check that the database is fit, the clocks agree, and every pending entry is in exactly one place')
    .option('--json', 'print one JSON document')
    .action(async ({ json }: { json?: true }) => {
      const use = { role: null, statementTimeoutMs: PLACEMENT_TIMEOUT_MS }
      const checks = await withDatabase(terminal, use, examine)
      if (json)
        terminal.out(
          `${JSON.stringify({ schema_version: 1, checks: checks.map(({ name, problems }) => ({ name, problems })) })}\n`,
        )
      else
        for (const { name, problems } of checks) {
          terminal.out(`${problems.length === 0 ? 'ok      ' : 'problem '} ${name}\n`)
          for (const problem of problems) terminal.out(`          ${escapeForTerminal(problem)}\n`)
        }
      if (checks.some((check) => check.unfit)) exit(EXIT.unreachable)
      else if (checks.some((check) => check.problems.length > 0)) exit(EXIT.findings)
    })
}

async function examine(database: Database): Promise<readonly Check[]> {
  const unfit = await checkDatabase(database)
  const fit: Check = { name: 'the database is fit', problems: unfit, unfit: unfit.length > 0 }
  // Nothing else can be asked of a database that is away or has no schema.
  if (unfit.length > 0) return [fit]
  return [fit, await checkClock(database), await checkPlaces(database)]
}

async function checkClock(database: Database): Promise<Check> {
  const before = Date.now()
  const theirs = await readDatabaseClock(database)
  const offsetMs = Math.round(theirs - (before + Date.now()) / 2)
  const isOff = Math.abs(offsetMs) > CLOCK_TOLERANCE_MS
  const problems = isOff ? [`this machine's clock is ${-offsetMs} ms ahead of the database's: correct it (NTP)`] : []
  return { name: 'the clocks agree', problems, unfit: false }
}

async function checkPlaces(database: Database): Promise<Check> {
  const misplaced = await checkPlacement(database)
  const problems = misplaced.map(({ entryId, kind }) => `entry ${entryId}: ${kind.replaceAll('_', ' ')}`)
  return { name: 'every pending entry is in exactly one place (I12)', problems, unfit: false }
}
