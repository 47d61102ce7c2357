import { fileURLToPath } from 'node:url'
import { findFreePort, spawnApp, startRedis, until } from '@counterfoil/testkit'
import { Queue } from 'bullmq'
import { type BenchServer, run } from './bench-database.js'
import { type Figure, makeFigure } from './figure.js'
import { AS_IN_THE_IMAGE } from './node-options.js'
import { type FastSink, startFastSink } from './start-fast-sink.js'

const CONCURRENCY = 256
const NOTE = 'x'.repeat(120)

/**
 * Notifications a second from a waiting backlog to one fast sink: our worker with all its evidence against a plain
 * BullMQ worker without any. The same sink in a process of its own, the same concurrency, one worker process each.
 * The time runs from the first to the last request that the sink saw.
 */
export async function measureDrainVsPlainBullmq(server: BenchServer, pairs: number, entries: number): Promise<Figure> {
  const ours: number[] = []
  const peer: number[] = []
  for (let pair = 0; pair < pairs; pair++) {
    ours.push(await measureOurs(await server.makeDatabase(`drain_${pair}`), entries))
    peer.push(await measurePlainBullmq(entries))
  }
  return makeFigure({
    id: 'drain_vs_plain_bullmq',
    atLeast: 1.4,
    unit: 'notifications per second',
    ours,
    peer,
    note: `${entries} notifications a run, ${CONCURRENCY} at once, ${pairs} pairs; BullMQ on Redis without persistence`,
  })
}

async function measureOurs(databaseUrl: string, entries: number): Promise<number> {
  await fillOutbox(databaseUrl, entries)
  const sink = await startFastSink()
  const worker = spawnApp(['worker'], {
    env: {
      COUNTERFOIL_CONFIG: fileURLToPath(new URL('../counterfoil.config.ts', import.meta.url)),
      COUNTERFOIL_DATABASE_URL: databaseUrl,
      COUNTERFOIL_HEALTH_PORT: String(await findFreePort()),
      COUNTERFOIL_LOG_LEVEL: 'warn',
      NODE_OPTIONS: AS_IN_THE_IMAGE,
      BENCH_SECRET: 'bench-secret-that-guards-nothing',
      SINK_URL: `${sink.url}/notify`,
    },
  })
  try {
    const rate = await readRate(sink, entries)
    await worker.terminate()
    await checkEvidence(databaseUrl, entries)
    return rate
  } finally {
    await worker.kill9()
    sink.close()
  }
}

async function measurePlainBullmq(entries: number): Promise<number> {
  const redis = await startRedis()
  const sink = await startFastSink()
  const queue = new Queue('plain', { connection: { url: redis.url } })
  await fillQueue(queue, entries)
  const worker = spawnApp([], {
    script: fileURLToPath(new URL('./plain-bullmq-worker.js', import.meta.url)),
    env: {
      NODE_OPTIONS: AS_IN_THE_IMAGE,
      REDIS_URL: redis.url,
      SINK_URL: sink.url,
      SINK_PATH: '/notify',
      CONCURRENCY: String(CONCURRENCY),
    },
  })
  try {
    return await readRate(sink, entries)
  } finally {
    await worker.kill9()
    await queue.close()
    sink.close()
    await redis.close()
  }
}

/** Waits until the sink has seen every key, and reads the rate from the sink's own times. */
async function readRate(sink: FastSink, entries: number): Promise<number> {
  await until(async () => (await sink.summary()).distinctKeys >= entries, {
    timeoutMs: 180_000,
    what: `${entries} notifications at the sink`,
  })
  const { requests, seconds } = await sink.summary()
  if (requests !== entries) throw new Error(`${entries} notifications took ${requests} requests.`)
  return entries / seconds
}

async function fillOutbox(databaseUrl: string, entries: number): Promise<void> {
  await run(
    databaseUrl,
    `WITH made AS MATERIALIZED (
       SELECT uuidv7() AS delivery, uuidv7() AS entry, n,
              convert_to(json_build_object('about', 'ticket-' || n, 'note', $2::text)::text, 'UTF8') AS body
       FROM generate_series(1, $1::int) n
     ), claimed AS (
       INSERT INTO counterfoil.delivery (id, source, delivery_id, identity_digest, event_type, disposition)
       SELECT delivery, 'bench', 'd-' || n, sha256(body), 'ticket.updated', 'act' FROM made
     ), entered AS (
       INSERT INTO counterfoil.entry (id, delivery, destination, idempotency_key, body, body_digest, content_type)
       SELECT entry, delivery, 'sink', 'ticket-event-' || n || ':notify', body, sha256(body), 'application/json' FROM made
     )
     INSERT INTO counterfoil.due (entry, destination, due_at, attempts, tries)
     SELECT entry, 'sink', clock_timestamp(), 0, 0 FROM made`,
    [entries, NOTE],
  )
  await run(databaseUrl, 'ANALYZE')
}

async function fillQueue(queue: Queue, entries: number): Promise<void> {
  for (let from = 1; from <= entries; from += 1_000) {
    const jobs = Array.from({ length: Math.min(1_000, entries - from + 1) }, (_, index) => ({
      name: 'notify',
      data: { key: `ticket-event-${from + index}:notify`, body: { about: `ticket-${from + index}`, note: NOTE } },
      opts: { removeOnComplete: true },
    }))
    await queue.addBulk(jobs)
  }
}

/** Every notification is delivered, has exactly one attempt, and nothing is left behind. */
async function checkEvidence(databaseUrl: string, entries: number): Promise<void> {
  const { rows } = await run(
    databaseUrl,
    `SELECT (SELECT count(*) FROM counterfoil.entry WHERE state = 'delivered')::int AS delivered,
            (SELECT count(*) FROM counterfoil.attempt WHERE outcome = 'accepted' AND number = 1)::int AS attempts,
            (SELECT count(*) FROM counterfoil.due)::int + (SELECT count(*) FROM counterfoil.lease)::int AS left`,
  )
  const { delivered, attempts, left } = rows[0]
  if (delivered !== entries || attempts !== entries || left !== 0) {
    throw new Error(`Of ${entries}, ${delivered} are delivered with ${attempts} attempts on record; ${left} are left.`)
  }
}
