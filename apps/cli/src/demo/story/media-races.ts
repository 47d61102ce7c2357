import { waitUntil } from '../system/wait-until.js'
import { expiryEvent, hold, outcomesOf, statuses, statusOf } from './media-shop.js'
import type { Scene } from './scene.js'

const example = 'media-reservations'

/** Hold the winner, run the loser. */
export const paidFirst: Scene = {
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

export const expiredFirst: Scene = {
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
