import { fileURLToPath } from 'node:url'
import { findFreePort, spawnApp, startRedis, until } from '@counterfoil/testkit'
import { Queue } from 'bullmq'
import { type BenchServer, run } from './bench-database.js'
import { type Figure, makeFigure } from './figure.js'
import { AS_IN_THE_IMAGE } from './node-options.js'
import { type FastSink, startFastSink } from './start-fast-sink.js'

const CONCURRENCY = 256
/** Notifications before the clock starts, on both sides: a worker runs for weeks, and its code is compiled by then. */
const WARM_UP = 10_000
const NOTE = 'x'.repeat(120)

type Peer = { readonly nodeOptions: string; readonly redis: Readonly<Record<string, string>> }

/** BullMQ, Node and Redis as they come. What Redis has not saved yet is lost with it. */
const PLAIN: Peer = { nodeOptions: '', redis: {} }
/** With the Node option that our image runs with. */
const TUNED: Peer = { nodeOptions: AS_IN_THE_IMAGE, redis: {} }
/** And with a Redis that has on disk what it answered, as our commits are. */
const DURABLE: Peer = { nodeOptions: AS_IN_THE_IMAGE, redis: { appendonly: 'yes', appendfsync: 'always' } }

/**
 * Notifications a second from a waiting backlog to one fast sink: our worker with all its evidence against a plain
 * BullMQ worker without any. The same sink in a process of its own, the same concurrency, one worker process each.
 * The time runs on the sink's clock, from the end of the warm-up to the last request.
 *
 * The promise is against BullMQ as it comes. Two figures beside it tell what its Node option and its durability change.
 */
export async function measureDrainVsPlainBullmq(
  server: BenchServer,
  pairs: number,
  entries: number,
): Promise<readonly Figure[]> {
  const ours: number[] = []
  const plain: number[] = []
  const tuned: number[] = []
  const durable: number[] = []
  for (let pair = 0; pair < pairs; pair++) {
    ours.push(await measureOurs(await server.makeDatabase(`drain_${pair}`), entries))
    plain.push(await measurePlainBullmq(entries, PLAIN))
    tuned.push(await measurePlainBullmq(entries, TUNED))
    durable.push(await measurePlainBullmq(entries, DURABLE))
  }
  const runs = `${entries} notifications a run, ${CONCURRENCY} at once, ${pairs} pairs, the first ${WARM_UP} not counted`
  const figure = (id: string, atLeast: number | null, peer: readonly number[], what: string) =>
    makeFigure({ id, atLeast, unit: 'notifications per second', ours, peer, note: `${runs}; ${what}` })
  return [
    figure('drain_vs_plain_bullmq', 1.4, plain, 'Node and Redis as they come'),
    figure('drain_vs_tuned_bullmq', null, tuned, `the peer with ${AS_IN_THE_IMAGE}, too`),
    figure('drain_vs_durable_bullmq', null, durable, 'the peer tuned, and its Redis with appendfsync always'),
  ]
}

async function measureOurs(databaseUrl: string, entries: number): Promise<number> {
  await fillOutbox(databaseUrl, entries)
  const sink = await startFastSink(WARM_UP)
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

async function measurePlainBullmq(entries: number, peer: Peer): Promise<number> {
  const redis = await startRedis({ settings: peer.redis })
  const sink = await startFastSink(WARM_UP)
  const queue = new Queue('plain', { connection: { url: redis.url } })
  await fillQueue(queue, entries)
  const worker = spawnApp([], {
    script: fileURLToPath(new URL('./plain-bullmq-worker.js', import.meta.url)),
    env: {
      NODE_OPTIONS: peer.nodeOptions,
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
  return (entries - WARM_UP) / seconds
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
