import { Worker } from 'bullmq'
import { Redis } from 'ioredis'
import { Pool } from 'undici'

/** The peer: a BullMQ worker as its documentation shows it, sending each job to the sink. No evidence, no verdict. */
const pool = new Pool(process.env.SINK_URL ?? '', { connections: Number(process.env.CONCURRENCY), pipelining: 1 })
const connection = new Redis(process.env.REDIS_URL ?? '', { maxRetriesPerRequest: null })

new Worker(
  'plain',
  async (job) => {
    const response = await pool.request({
      method: 'POST',
      path: process.env.SINK_PATH ?? '/',
      headers: { 'content-type': 'application/json', 'idempotency-key': String(job.data.key) },
      body: JSON.stringify(job.data.body),
    })
    await response.body.dump()
    if (response.statusCode >= 300) throw new Error(`answered ${response.statusCode}`)
  },
  { connection, concurrency: Number(process.env.CONCURRENCY), removeOnComplete: { count: 0 } },
)
process.stdout.write('ready\n')
