import { createRedisBackend, withBackend } from 'bullmq'
import { Redis, type RedisOptions } from 'ioredis'
import type { Logger } from 'pino'
import { type Backend, type Connection, type JobData, QUEUE_NAME, WORKER_OPTIONS } from './session.js'
import { withDeadline } from './with-deadline.js'

const bull = withBackend(createRedisBackend)

const CONNECT_MS = 2_000

/** Reconnects for ever, at most a second apart. */
const retryStrategy = (times: number) => Math.min(50 * 2 ** Math.min(times, 10), 1_000)

/**
 * BullMQ on Redis. The sockets are our own, so that a black-holed Redis can be cut loose: closing a BullMQ worker
 * waits for a Redis that never answers (measured: more than 8 s, with any argument).
 */
export function createRedis(url: string, log: Logger): Backend {
  return { kind: 'redis', connect: () => connect(url, log) }
}

async function connect(url: string, log: Logger): Promise<Connection> {
  const sockets: Redis[] = []
  // A producer fails at once while Redis is away: nobody waits for a hint.
  const producer = open(url, sockets, {
    maxRetriesPerRequest: 1,
    enableOfflineQueue: false,
    commandTimeout: CONNECT_MS,
  })
  const cut = () => {
    for (const socket of sockets) socket.disconnect()
  }
  try {
    await withDeadline(onceReady(producer), 2 * CONNECT_MS)
    await warnOfEviction(producer, log)
    const queue = new bull.Queue<JobData, unknown, string>(QUEUE_NAME, { connection: producer })
    queue.on('error', () => {})
    await withDeadline(queue.waitUntilReady(), 2 * CONNECT_MS)
    return {
      queue,
      isUp: () => producer.status === 'ready',
      startWorker: (handler) => {
        // BullMQ insists on endless retries for its blocking call.
        const connection = open(url, sockets, { maxRetriesPerRequest: null })
        const worker = new bull.Worker<JobData, unknown, string>(QUEUE_NAME, handler, { connection, ...WORKER_OPTIONS })
        worker.on('error', () => {})
        return worker
      },
      cut,
    }
  } catch (error) {
    cut()
    throw error
  }
}

/** BullMQ duplicates a worker's connection for its blocking call; that one is remembered too. */
class TrackedRedis extends Redis {
  sockets: Redis[] = []

  override duplicate(override?: Partial<RedisOptions>): Redis {
    const copy = super.duplicate(override)
    copy.on('error', () => {})
    this.sockets.push(copy)
    return copy
  }
}

type OpenOptions = Pick<RedisOptions, 'maxRetriesPerRequest' | 'enableOfflineQueue' | 'commandTimeout'>

function open(url: string, sockets: Redis[], options: OpenOptions): Redis {
  const redis = new TrackedRedis(url, { connectTimeout: CONNECT_MS, retryStrategy, ...options })
  redis.sockets = sockets
  redis.on('error', () => {})
  sockets.push(redis)
  return redis
}

function onceReady(redis: Redis): Promise<void> {
  return new Promise((resolve) => redis.once('ready', () => resolve()))
}

/** With another policy Redis may drop hints when it is full: that costs time, so it is worth a line. */
async function warnOfEviction(redis: Redis, log: Logger): Promise<void> {
  const info = await redis.info('memory')
  const policy = /maxmemory_policy:(\S+)/.exec(info)?.[1]
  if (policy !== undefined && policy !== 'noeviction')
    log.warn({ policy }, 'redis.evicts: set maxmemory-policy noeviction')
}
