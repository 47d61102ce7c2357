import { Socket } from 'node:net'
import { createPostgresBackend, type PgPool, runMigrations, withBackend } from 'bullmq'
import pg from 'pg'
import { type Backend, type Connection, type JobData, QUEUE_NAME, WORKER_OPTIONS } from './session.js'
import { withDeadline } from './with-deadline.js'

const bull = withBackend(createPostgresBackend)

/** BullMQ's schema; with a pool of ours its name is fixed. */
const SCHEMA = 'bullmq'
const CONNECT_MS = 3_000
const ASK_AGAIN_MS = 1_000

/** BullMQ on the product's own database, in a schema and a pool of its own: no Redis to install. */
export function createPostgres(databaseUrl: string): Backend {
  return { kind: 'postgres', connect: () => connect(databaseUrl) }
}

async function connect(databaseUrl: string): Promise<Connection> {
  const sockets = new Set<Socket>()
  const pool = openPool(databaseUrl, sockets)
  // The pool is one to BullMQ too; only the overloads of its listeners are typed apart.
  const shared = pool as unknown as PgPool
  const cut = () => {
    void pool.end().catch(() => {})
    Object.assign(pool, { query: refuseLater, connect: refuseLater })
    for (const socket of sockets) socket.destroy()
  }
  try {
    // A queue that is made while PostgreSQL is away stays dead for ever, so the way is tried first.
    await migrate(pool)
    const queue = new bull.Queue<JobData, unknown, string>(QUEUE_NAME, { connection: shared })
    queue.on('error', () => {})
    await withDeadline(queue.waitUntilReady(), CONNECT_MS)
    return {
      queue,
      isUp: () => true,
      startWorker: (handler) => {
        const worker = new bull.Worker<JobData, unknown, string>(QUEUE_NAME, handler, {
          connection: shared,
          ...WORKER_OPTIONS,
        })
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

/**
 * What a pool that was cut answers. An ended pool refuses at once; a worker of BullMQ asks again at once, and so turned
 * for ever in promises alone: no timer and no socket of the process was served any more.
 */
function refuseLater(): Promise<never> {
  return new Promise((_resolve, reject) => {
    setTimeout(() => reject(new Error('the connection was cut')), ASK_AGAIN_MS).unref()
  })
}

function openPool(databaseUrl: string, sockets: Set<Socket>): pg.Pool {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    // One is taken by the worker's LISTEN.
    max: 4,
    application_name: 'counterfoil-queue',
    options: `-c search_path=${SCHEMA} -c TimeZone=UTC`,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: CONNECT_MS,
    keepAlive: true,
    // Sockets of our own, so that a silent server can be cut loose.
    stream: () => {
      const socket = new Socket()
      sockets.add(socket)
      return socket.once('close', () => sockets.delete(socket))
    },
  })
  // BullMQ adds a listener per queue and worker.
  pool.setMaxListeners(32)
  pool.on('error', () => {})
  // A borrowed connection that dies between two statements says so with an event of its own; unheard, it ends the process.
  pool.on('connect', (client) => void client.on('error', () => {}))
  return pool
}

/** One transaction under an advisory lock: 118 ms the first time, 4 ms after. */
async function migrate(pool: pg.Pool): Promise<void> {
  const client = await pool.connect()
  try {
    await runMigrations(client, SCHEMA, { skipVersionCheck: true })
    client.release()
  } catch (error) {
    client.release(true)
    throw error
  }
}
