import { parseArgs } from 'node:util'
import { hasRedisServer } from '@counterfoil/testkit'
import { hasPgbench, measureAcksVsPgbench } from './acks-vs-pgbench.js'
import { type BenchServer, startBenchServer } from './bench-database.js'
import { measureDrainVsPlainBullmq } from './drain-vs-plain-bullmq.js'
import type { Figure } from './figure.js'
import { describeFamilies, measureFamilies, type VerificationFigure } from './verify-families.js'

const HELP = `npm run bench -- [--quick] [--json] [--only ID]

Speed as ratios against a peer in the same run, each run checked against the sink's ledger or the database.
  --quick    smaller and fewer runs: shows that the benchmark works, not how fast it is
  --json     one document on stdout: {"figures":[{"id","ratio",…}],"verification":[{"family","bodyBytes",…}]}
  --only ID  one figure: acks_vs_pgbench, drain_vs_plain_bullmq, or verify_families
verify_families has no peer and promises nothing: verifications a second on one core, by family and size of the body.
The others need pgbench and redis-server (Debian: postgresql-contrib, redis-server).
`

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    only: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
})

const measurements: Readonly<Record<string, (server: BenchServer) => Promise<readonly Figure[]>>> = {
  acks_vs_pgbench: async (server) => [
    await (values.quick ? measureAcksVsPgbench(server, 2, 20_000) : measureAcksVsPgbench(server, 5, 60_000)),
  ],
  drain_vs_plain_bullmq: (server) =>
    values.quick ? measureDrainVsPlainBullmq(server, 2, 25_000) : measureDrainVsPlainBullmq(server, 5, 40_000),
}

const FAMILIES = 'verify_families'
const isChosen = (id: string) => values.only === undefined || id === values.only

async function main(): Promise<number> {
  if (values.help) {
    process.stdout.write(HELP)
    return 0
  }
  const chosen = Object.entries(measurements).filter(([id]) => isChosen(id))
  if (chosen.length === 0 && !isChosen(FAMILIES)) {
    const known = [...Object.keys(measurements), FAMILIES].join(', ')
    process.stderr.write(`There is no figure '${values.only}'. Known: ${known}.\n`)
    return 2
  }
  const missing = chosen.length === 0 ? [] : listMissingPeers()
  if (missing.length > 0) {
    process.stderr.write(`The peers of this benchmark are missing: ${missing.join(', ')}. Install and try again.\n`)
    return 7
  }
  const verification = isChosen(FAMILIES) ? await measureVerification() : []
  const figures = chosen.length === 0 ? [] : await measureRatios(chosen)
  process.stdout.write(
    values.json
      ? `${JSON.stringify({ figures, verification })}\n`
      : figures.map(describeFigure).join('') + (verification.length === 0 ? '' : describeFamilies(verification)),
  )
  return 0
}

function listMissingPeers(): readonly string[] {
  const peers: readonly (readonly [boolean, string])[] = [
    [hasPgbench(), 'pgbench (Debian: postgresql-contrib)'],
    [hasRedisServer(), 'redis-server'],
  ]
  return peers.filter(([isHere]) => !isHere).map(([, program]) => program)
}

/** Before the others, while nothing of theirs runs beside it. */
function measureVerification(): Promise<readonly VerificationFigure[]> {
  process.stderr.write(`measuring ${FAMILIES} …\n`)
  return values.quick ? measureFamilies(1, 90) : measureFamilies(3, 300)
}

async function measureRatios(
  chosen: readonly [string, (server: BenchServer) => Promise<readonly Figure[]>][],
): Promise<readonly Figure[]> {
  const server = await startBenchServer()
  const figures: Figure[] = []
  try {
    for (const [id, measure] of chosen) {
      process.stderr.write(`measuring ${id} …\n`)
      figures.push(...(await measure(server)))
    }
  } finally {
    await server.close()
  }
  return figures
}

function describeFigure(figure: Figure): string {
  const list = (numbers: readonly number[]) => numbers.map((number) => Math.round(number)).join(' ')
  return `${figure.id}: ${figure.ratio} (${figure.atLeast === null ? 'nothing is promised' : `at least ${figure.atLeast} is promised`})
  ours  ${list(figure.ours)} ${figure.unit}
  peer  ${list(figure.peer)}
  ${figure.note}
`
}

process.exitCode = await main()
