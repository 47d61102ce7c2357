import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { findFreePort, spawnApp } from '@counterfoil/testkit'
import { type BenchServer, run } from './bench-database.js'
import { type Figure, makeFigure } from './figure.js'
import { AS_IN_THE_IMAGE } from './node-options.js'
import { writePgbenchScript } from './pgbench-script.js'

const execute = promisify(execFile)
const CLIENTS = 64
const PADDING = 120
const SECRET = 'bench-secret-that-guards-nothing'

/** Is pgbench on this machine? It comes with PostgreSQL's contributed programs. */
export function hasPgbench(): boolean {
  return spawnSync('pgbench', ['--version'], { stdio: 'ignore' }).status === 0
}

/**
 * Durable acks a second of the real receiver, over sockets, against pgbench writing the same rows in one transaction
 * each with as many clients. The load generator, the receiver and PostgreSQL are processes of their own.
 */
export async function measureAcksVsPgbench(server: BenchServer, pairs: number, pushes: number): Promise<Figure> {
  const ours: number[] = []
  const peer: number[] = []
  const notes: string[] = []
  for (let pair = 0; pair < pairs; pair++) {
    const acked = await measureAcks(await server.makeDatabase(`acks_${pair}`), pushes)
    ours.push(acked.perSecond)
    notes.push(`p50 ${acked.p50Ms} ms, p99 ${acked.p99Ms} ms`)
    peer.push(await measurePgbench(await server.makeDatabase(`pgbench_${pair}`), pushes))
  }
  return makeFigure({
    id: 'acks_vs_pgbench',
    atLeast: 1.3,
    unit: 'durable acks per second',
    ours,
    peer,
    note: `${CLIENTS} clients, ${pushes} pushes a run, ${pairs} pairs; ack latency ${notes.join(' · ')}`,
  })
}

type Acked = {
  readonly acked: number
  readonly refused: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

async function measureAcks(databaseUrl: string, pushes: number): Promise<Acked> {
  const [port, healthPort] = [await findFreePort(), await findFreePort()]
  const spool = await mkdtemp(join(tmpdir(), 'counterfoil-bench-'))
  const receiver = spawnApp(['receiver'], {
    env: {
      COUNTERFOIL_CONFIG: fileURLToPath(new URL('../counterfoil.config.ts', import.meta.url)),
      COUNTERFOIL_DATABASE_URL: databaseUrl,
      COUNTERFOIL_PORT: String(port),
      COUNTERFOIL_HEALTH_PORT: String(healthPort),
      COUNTERFOIL_SPOOL_DIR: spool,
      COUNTERFOIL_LOG_LEVEL: 'warn',
      NODE_OPTIONS: AS_IN_THE_IMAGE,
      BENCH_SECRET: SECRET,
    },
  })
  try {
    await receiver.waitReady()
    await generateLoad(port, 3_000)
    const acked = await generateLoad(port, pushes)
    await receiver.terminate()
    await checkClaims(databaseUrl, pushes + 3_000)
    return acked
  } finally {
    await receiver.kill9()
    await rm(spool, { recursive: true, force: true })
  }
}

async function generateLoad(port: number, pushes: number): Promise<Acked> {
  const script = fileURLToPath(new URL('./load-generator.js', import.meta.url))
  const { stdout } = await execute(process.execPath, [script], {
    env: {
      ...process.env,
      PORT: String(port),
      CLIENTS: String(CLIENTS),
      PUSHES: String(pushes),
      PADDING: String(PADDING),
      SECRET,
      TARGET_PATH: '/push/bench',
    },
  })
  const acked: Acked = JSON.parse(stdout)
  if (acked.acked !== pushes)
    throw new Error(`Only ${acked.acked} of ${pushes} pushes were acked (${acked.refused} refused).`)
  return acked
}

/** A fast ack that claims nothing is no ack: every push has left all its rows. */
async function checkClaims(databaseUrl: string, expected: number): Promise<void> {
  const { rows } = await run(
    databaseUrl,
    `SELECT (SELECT count(*) FROM counterfoil.delivery)::int AS delivery, (SELECT count(*) FROM counterfoil.delivery_content)::int AS content,
            (SELECT count(*) FROM counterfoil.observation)::int AS observation, (SELECT count(*) FROM counterfoil.entry)::int AS entry,
            (SELECT count(*) FROM counterfoil.due)::int AS due, (SELECT count(*) FROM counterfoil.reference)::int / 2 AS reference,
            (SELECT count(*) FROM counterfoil.ack)::int AS ack`,
  )
  for (const [table, count] of Object.entries(rows[0])) {
    if (count !== expected) throw new Error(`${expected} pushes were acked, but ${table} has rows for ${count}.`)
  }
}

async function measurePgbench(databaseUrl: string, pushes: number): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'counterfoil-pgbench-'))
  const script = join(folder, 'push.sql')
  await writeFile(script, writePgbenchScript(PADDING))
  const pgbench = async (transactions: number) => {
    const each = String(Math.ceil(transactions / CLIENTS))
    const flags = ['-n', '-M', 'prepared', '-c', String(CLIENTS), '-j', '1', '-t', each, '-f', script]
    const { stdout } = await execute('pgbench', [...flags, databaseUrl])
    return Number(/tps = ([\d.]+) \(without/.exec(stdout)?.[1] ?? Number.NaN)
  }
  try {
    await pgbench(3_000)
    return await pgbench(pushes)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
