import { waitUntil } from '../system/wait-until.js'
import type { Scene, SceneContext } from './scene.js'

const example = 'media-reservations'

function expiryEvent(reservation: string, expiresAt: Date): string {
  return JSON.stringify({
    type: 'reservation.expire',
    reservationId: reservation,
    titleId: 'the-third-man',
    expiresAt: expiresAt.toISOString(),
  })
}

/** Makes a hold in the shop's own table, `seconds` long by the database clock. */
async function hold({ system }: SceneContext, reservation: string, seconds: number, seat = 'H7'): Promise<Date> {
  const { rows } = await system.database.pool.query<{ expires_at: Date }>(
    `INSERT INTO media.reservation (id, title_id, seat, expires_at)
     VALUES ($1, 'the-third-man', $2, date_trunc('milliseconds', clock_timestamp()) + make_interval(secs => $3))
     RETURNING expires_at`,
    [reservation, seat, seconds],
  )
  return rows[0]?.expires_at ?? new Date(0)
}

async function statusOf({ system }: SceneContext, reservation: string): Promise<string> {
  const { rows } = await system.database.pool.query<{ status: string }>(
    'SELECT status FROM media.reservation WHERE id = $1',
    [reservation],
  )
  return rows[0]?.status ?? 'missing'
}

/** Outcomes of every delivery about this reservation, as committed. */
async function outcomesOf({ system }: SceneContext, reservation: string): Promise<string[]> {
  const { rows } = await system.database.pool.query<{ outcome: string }>(
    'SELECT outcome FROM counterfoil.transition_outcome WHERE subject = $1 ORDER BY decided_at',
    [reservation],
  )
  return rows.map((row) => row.outcome)
}

const statuses = (answers: readonly { readonly [field: string]: unknown }[]) => answers.map((answer) => answer.status)

const expiresTwicePushed: Scene = {
  example,
  tells: 'A seat is held for 2 s. The queue fires at expiresAt, and pushes once more although it was acked: 204, 204.',
  shows: (name) => name('seat', 0),
  verdict: 'done',
  play: async (context) => {
    const { system, name, look } = context
    const seat = name('seat', 0)
    const expiresAt = await hold(context, seat, 2)
    const answers = await system.queue.push({
      id: `exp-${seat}`,
      source: 'screenings',
      body: expiryEvent(seat, expiresAt),
      fireAt: expiresAt.getTime(),
      repeat: 1,
    })
    look('queue', 'answers read', statuses(answers), [204, 204])
    await waitUntil('the seat is expired', async () => (await statusOf(context, seat)) === 'expired')
    look(
      'database',
      'transitions applied',
      (await outcomesOf(context, seat)).filter((one) => one === 'applied').length,
      1,
    )
  },
}

const forged: Scene = {
  example,
  tells:
    'One byte of a push is changed after signing; another push is signed an hour ago. 401, 401, and no trace in the claims.',
  shows: (name) => `exp-${name('seat', 1)}`,
  verdict: 'no_record',
  play: async (context) => {
    const { system, name, look } = context
    const seat = name('seat', 1)
    const expiresAt = await hold(context, seat, 0)
    const job = { id: `exp-${seat}`, source: 'screenings', body: expiryEvent(seat, expiresAt) }
    look('queue', 'one changed byte', statuses(await system.queue.push({ ...job, tamper: true })), [401])
    const stale = await system.queue.push({ ...job, id: `exp-${seat}-stale`, shiftSignedTimeMs: -3_600_000 })
    look('queue', 'a stale timestamp', statuses(stale), [401])
    look('database', 'the seat', await statusOf(context, seat), 'held')
  },
}

const paidFirst: Scene = {
  example,
  tells: 'The payment has the row when the expiry comes, and the expiry waits for it: paid stays paid.',
  shows: (name) => name('seat', 2),
  verdict: 'nothing_to_do',
  play: async (context) => {
    const { system, name, look } = context
    const seat = name('seat', 2)
    const expiresAt = await hold(context, seat, 0.3)
    const payment = await system.database.pool.connect()
    try {
      await payment.query('BEGIN')
      await payment.query(`UPDATE media.reservation SET status = 'paid', paid_at = now() WHERE id = $1`, [seat])
      await system.queue.enqueue({
        id: `exp-${seat}`,
        source: 'screenings',
        body: expiryEvent(seat, expiresAt),
        fireAt: expiresAt.getTime() + 50,
      })
      // The winner holds the row for a while after the loser has arrived.
      await new Promise((resolve) => setTimeout(resolve, 800))
      await payment.query('COMMIT')
    } finally {
      payment.release()
    }
    look('queue', 'answer read in the end', statuses(await system.queue.ended(`exp-${seat}`)).at(-1), 204)
    look('database', 'the seat', await statusOf(context, seat), 'paid')
    look('database', 'outcomes', await outcomesOf(context, seat), ['no_longer_held'])
  },
}

const STANDS_MS = 350

const expiredFirst: Scene = {
  example,
  tells:
    'The other way round: the expiry stands in the middle of its transaction when the payment comes. The payment finds the seat gone.',
  shows: (name) => name('seat', 3),
  verdict: 'done',
  play: async (context) => {
    const { system, name, look } = context
    const seat = name('seat', 3)
    const expiresAt = await hold(context, seat, 0, 'gate')
    const gate = await system.database.pool.connect()
    try {
      await gate.query('SELECT pg_advisory_lock(hashtext($1))', [seat])
      await system.queue.enqueue({ id: `exp-${seat}`, source: 'screenings', body: expiryEvent(seat, expiresAt) })
      await waitUntil('the expiry stands at the gate', async () => {
        // A batch gives up on a row that makes it wait and lets it go; the push that stays does so on its own.
        const { rows } = await gate.query(
          `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
           AND waitstart < clock_timestamp() - interval '${STANDS_MS} milliseconds'`,
        )
        return rows.length > 0
      })
      const payment = system.database.pool.query(
        `UPDATE media.reservation SET status = 'paid', paid_at = now() WHERE id = $1 AND status = 'held'`,
        [seat],
      )
      await new Promise((resolve) => setTimeout(resolve, 300))
      await gate.query('SELECT pg_advisory_unlock(hashtext($1))', [seat])
      look('database', 'rows that the payment changed', (await payment).rowCount, 0)
    } finally {
      gate.release(true)
    }
    look('queue', 'answer read in the end', statuses(await system.queue.ended(`exp-${seat}`)).at(-1), 204)
    look('database', 'the seat', await statusOf(context, seat), 'expired')
  },
}

const extended: Scene = {
  example,
  tells: 'A hold is extended. The event of the old deadline arrives on time and changes nothing.',
  shows: (name) => name('seat', 4),
  verdict: 'nothing_to_do',
  play: async (context) => {
    const { system, name, look } = context
    const seat = name('seat', 4)
    const expiresAt = await hold(context, seat, 0.5)
    await system.database.pool.query(
      `UPDATE media.reservation SET expires_at = expires_at + interval '15 minutes' WHERE id = $1`,
      [seat],
    )
    const answers = await system.queue.push({
      id: `exp-${seat}`,
      source: 'screenings',
      body: expiryEvent(seat, expiresAt),
      fireAt: expiresAt.getTime() + 50,
    })
    look('queue', 'answers read', statuses(answers), [204])
    look('database', 'the seat', await statusOf(context, seat), 'held')
    look('database', 'outcomes', await outcomesOf(context, seat), ['superseded'])
  },
}

const twoCopies: Scene = {
  example,
  tells: 'Two copies of one push arrive at the same moment: both are acked, one transition is made.',
  shows: (name) => name('seat', 5),
  verdict: 'done',
  play: async (context) => {
    const { system, name, look } = context
    const seat = name('seat', 5)
    const expiresAt = await hold(context, seat, 0)
    const answers = await system.queue.push({
      id: `exp-${seat}`,
      source: 'screenings',
      body: expiryEvent(seat, expiresAt),
      copies: 2,
    })
    look('queue', 'answers read', statuses(answers), [204, 204])
    look('database', 'the seat', await statusOf(context, seat), 'expired')
    look('database', 'outcomes', await outcomesOf(context, seat), ['applied'])
  },
}

type StoreFault = {
  readonly index: number
  readonly tells: string
  readonly begin: (context: SceneContext) => Promise<void>
  readonly end: (context: SceneContext) => Promise<void>
  /** Must the queue have read a 503 meanwhile? A lost COMMIT reply may be settled within the ack deadline. */
  readonly answers503: boolean
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
      await fault.begin(context)
      try {
        await system.queue.enqueue({ id: job, source: 'screenings', body: expiryEvent(seat, expiresAt) })
        const first = await waitUntil(
          'the first answer',
          async () => (await system.queue.lines({ job, kind: 'answer' }))[0],
        )
        if (fault.answers503) look('queue', 'first answer read', first.status, 503)
      } finally {
        await fault.end(context)
      }
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

const storeFaults: readonly Scene[] = [
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

export const MEDIA_SCENES = {
  together: [expiresTwicePushed, forged, paidFirst, extended, twoCopies],
  alone: [expiredFirst, ...storeFaults],
} as const
