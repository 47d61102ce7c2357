import { waitUntil } from '../system/wait-until.js'
import type { Scene, SceneContext } from './scene.js'

const example = 'support-notifications'

/** A ticket event as the demo's queue pushes it. */
export function ticketEvent(ticket: string, type: 'ticket.updated' | 'ticket.solved'): string {
  const eventId = `${ticket}.${type === 'ticket.updated' ? 'updated' : 'solved'}`
  return JSON.stringify({
    type,
    eventId,
    ticketId: ticket,
    customer: 'mara@example.com',
    summary: 'The invoice is wrong',
  })
}

/** The whole point of the product in one ticket: two losses, one business action. */
const lostTwice: Scene = {
  example,
  tells:
    'The answer to the first push is lost, so the queue pushes again. The CRM does the update, but its answer is ' +
    'lost, so the worker sends again under the same key.',
  shows: (name) => name('ticket', 0),
  verdict: 'delivered_repeat_ignored',
  play: async ({ system, name, look }) => {
    const ticket = name('ticket', 0)
    await system.crm.script(`${ticket}.updated/update`, 'apply_then_drop')
    const answers = await system.queue.push({
      id: `dlv-${ticket}`,
      source: 'tickets',
      body: ticketEvent(ticket, 'ticket.updated'),
      loseAnswerOf: [1],
    })
    look(
      'queue',
      'answers read',
      answers.map((answer) => answer.status ?? answer.result),
      ['lost', 204],
    )
    const requests = await waitUntil('the CRM saw the repeat', async () => {
      const seen = await system.crm.requests(ticket)
      return seen.length >= 2 && seen
    })
    look('crm', 'requests', requests.length, 2)
    look('crm', 'different keys', new Set(requests.map((line) => line.key)).size, 1)
    look('crm', 'different bodies', new Set(requests.map((line) => line.digest)).size, 1)
    look('crm', 'business actions', (await system.crm.effects(ticket)).length, 1)
  },
}

const withoutKeys: Scene = {
  example,
  tells:
    'A solved ticket goes to the CRM and to a mailer that recognises no repeats. The mailer sends the mail and never ' +
    'answers. Nobody knows, so nobody sends it a second time.',
  shows: (name) => name('ticket', 1),
  verdict: 'unknown',
  play: async ({ system, name, look }) => {
    const ticket = name('ticket', 1)
    await system.mailer.script(ticket, 'apply_then_hang')
    const answers = await system.queue.push({
      id: `dlv-${ticket}`,
      source: 'tickets',
      body: ticketEvent(ticket, 'ticket.solved'),
    })
    look(
      'queue',
      'answers read',
      answers.map((answer) => answer.status),
      [204],
    )
    await waitUntil('the mailer entry is held', async () => {
      const { rows } = await system.database.pool.query(
        `SELECT 1 FROM counterfoil.entry WHERE idempotency_key = $1 AND state = 'uncertain'`,
        [`${ticket}.solved/survey`],
      )
      return rows.length > 0
    })
    // Longer than the first retry would take, had there been one.
    await new Promise((resolve) => setTimeout(resolve, 1200))
    look('mailer', 'requests', (await system.mailer.requests(ticket)).length, 1)
    look('mailer', 'business actions', (await system.mailer.effects(ticket)).length, 1)
    look('crm', 'business actions', (await system.crm.effects(ticket)).length, 1)
  },
}

const HANGING = 12

const allHang: Scene = {
  example,
  tells:
    `Every destination hangs while ${HANGING} tickets arrive. The acks don't wait for them, and when the ` +
    'destinations are back, each ticket gets its one update.',
  shows: (name) => name('ticket', 2),
  verdict: 'delivered_once',
  play: async (context) => {
    const { system, name, look } = context
    const { crm, mailer, carrier } = system
    const tickets = Array.from(
      { length: HANGING },
      (_, index) => `${name('ticket', 2)}${index === 0 ? '' : `-${index}`}`,
    )
    await Promise.all([crm, mailer, carrier].map((peer) => peer.always('hang')))
    const acks = await Promise.all(tickets.map((ticket) => pushUpdate(context, ticket)))
    look('queue', 'acks while all destinations hang', acks.filter((ack) => ack.status === 204).length, HANGING)
    look(
      'queue',
      'slowest of them below 1 s',
      acks.every((ack) => Number(ack.ms) < 1000),
      true,
    )
    await Promise.all([crm, mailer, carrier].map((peer) => peer.always('answer')))
    await waitUntil('each ticket has its update', async () => {
      const counts = await Promise.all(tickets.map((ticket) => crm.effects(ticket)))
      return counts.every((effects) => effects.length > 0)
    })
    const effects = await Promise.all(tickets.map((ticket) => crm.effects(ticket)))
    look('crm', 'business actions', effects.flat().length, HANGING)
  },
}

async function pushUpdate({ system }: SceneContext, ticket: string) {
  const answers = await system.queue.push({
    id: `dlv-${ticket}`,
    source: 'tickets',
    body: ticketEvent(ticket, 'ticket.updated'),
  })
  return answers[0] ?? { status: null, ms: null }
}

export const SUPPORT_SCENES = { together: [lostTwice, withoutKeys], alone: [allHang] } as const
