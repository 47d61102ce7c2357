import { waitUntil } from '../system/wait-until.js'
import { expiredFirst, paidFirst } from './media-races.js'
import { expiryEvent, hold, outcomesOf, statuses, statusOf } from './media-shop.js'
import { storeFaults } from './media-store-faults.js'
import type { Scene } from './scene.js'

const example = 'media-reservations'

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

export const MEDIA_SCENES = {
  together: [expiresTwicePushed, forged, paidFirst, extended, twoCopies],
  alone: [expiredFirst],
  storeFaults,
} as const
