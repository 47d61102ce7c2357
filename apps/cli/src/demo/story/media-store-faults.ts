import type { DemoSystem } from '../system/demo-system.js'
import { waitUntil } from '../system/wait-until.js'
import { expiryEvent, hold, outcomesOf, statuses, statusOf } from './media-shop.js'
import type { Scene, SceneContext } from './scene.js'

const example = 'media-reservations'

type StoreFault = {
  readonly index: number
  readonly tells: string
  readonly begin: (context: SceneContext) => Promise<void>
  readonly end: (context: SceneContext) => Promise<void>
  /** Must the queue have read a 503 meanwhile? A lost COMMIT reply may be settled within the ack deadline. */
  readonly answers503: boolean
}

const turns = new WeakMap<DemoSystem, Promise<void>>()

/** One fault at a time; while a push waits for its `Retry-After`, the next fault may have its turn. */
function takeTurn(system: DemoSystem, work: () => Promise<void>): Promise<void> {
  const mine = (turns.get(system) ?? Promise.resolve()).then(work)
  turns.set(
    system,
    mine.catch(() => {}),
  )
  return mine
}

/** While the store is unfit the push is answered 503, and the queue brings it again. */
function storeFault(fault: StoreFault): Scene {
  return {
    example,
    tells: fault.tells,
    shows: (name) => name('seat', fault.index),
    verdict: 'done',
    play: async (context) => {
      const { system, name, look } = context
      const seat = name('seat', fault.index)
      const job = `exp-${seat}`
      const expiresAt = await hold(context, seat, 0)
      await takeTurn(system, async () => {
        await fault.begin(context)
        try {
          await system.queue.enqueue({ id: job, source: 'screenings', body: expiryEvent(seat, expiresAt) })
          const answer = async () => (await system.queue.lines({ job, kind: 'answer' }))[0]
          const first = await waitUntil('the first answer', answer)
          if (fault.answers503) look('queue', 'first answer read', first.status, 503)
        } finally {
          await fault.end(context)
        }
      })
      look('queue', 'last answer read', statuses(await system.queue.ended(job)).at(-1), 204)
      look('database', 'the seat', await statusOf(context, seat), 'expired')
      look('database', 'outcomes', await outcomesOf(context, seat), ['applied'])
    },
  }
}

const wire = (mode: 'refuse' | 'hang' | 'lose_commit' | 'pass') => async (context: SceneContext) =>
  context.system.wire.setMode(mode)

/** `ALTER SYSTEM` reaches sessions that are already open, and its end reaches them too. */
const readOnly = (on: boolean) => async (context: SceneContext) => {
  const client = await context.system.database.pool.connect()
  try {
    await client.query('SET default_transaction_read_only = off')
    await client.query(
      on ? 'ALTER SYSTEM SET default_transaction_read_only = on' : 'ALTER SYSTEM RESET default_transaction_read_only',
    )
    await client.query('SELECT pg_reload_conf()')
    // Sessions take the change up at their next statement after the signal.
    await new Promise((resolve) => setTimeout(resolve, 100))
  } finally {
    client.release(true)
  }
}

export const storeFaults: readonly Scene[] = [
  storeFault({
    index: 6,
    tells: 'The database refuses connections: 503, and again, until it takes them.',
    begin: wire('refuse'),
    end: wire('pass'),
    answers503: true,
  }),
  storeFault({
    index: 7,
    tells: 'The database hangs: 503 at the ack deadline, long before the queue gives up waiting.',
    begin: wire('hang'),
    end: wire('pass'),
    answers503: true,
  }),
  storeFault({
    index: 8,
    tells: 'The database is read-only: 503.',
    begin: readOnly(true),
    end: readOnly(false),
    answers503: true,
  }),
  storeFault({
    index: 9,
    tells: 'The COMMIT takes effect, but its reply is lost on the way: counted once all the same.',
    begin: wire('lose_commit'),
    end: wire('pass'),
    answers503: false,
  }),
]
