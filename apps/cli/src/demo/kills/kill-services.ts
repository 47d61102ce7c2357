import { setTimeout as sleep } from 'node:timers/promises'
import { ticketEvent } from '../story/support-scenes.js'
import type { DemoSystem } from '../system/demo-system.js'
import { waitUntil } from '../system/wait-until.js'

/** One `kill -9`, and what followed. */
export type Kill = {
  readonly number: number
  readonly role: 'receiver' | 'worker'
  /** The CRM had the request of `ticket` and had not answered it. */
  readonly inSendWindow: boolean
  /** The ticket that was in the middle of it. */
  readonly ticket: string
  /** From the kill until the service was ready again, most of which is the start of a process. */
  readonly readyAgainMs: number
  /** From the kill until a ticket that came after it had its update. */
  readonly flowedAgainMs: number
}

export type KillOptions = {
  readonly kills: number
  readonly random: () => number
  /** Names the killer's own tickets, apart from those of the story. */
  readonly prefix: string
  readonly interrupted: AbortSignal
  readonly onKill: (kill: Kill) => void
}

/** How long after a batch of pushes a kill at a random moment comes at most, ms. */
const RANDOM_MOMENT_MS = 250

/** Kills one service after the other and starts it again at once, as a supervisor does. Every second kill is in the send window. */
export async function killServices(system: DemoSystem, options: KillOptions): Promise<readonly Kill[]> {
  const kills: Kill[] = []
  for (let number = 1; number <= options.kills && !options.interrupted.aborted; number += 1) {
    const ticket = `${options.prefix}-${number}`
    const inSendWindow = number % 2 === 0
    const role = inSendWindow || options.random() < 0.5 ? 'worker' : 'receiver'
    if (inSendWindow) await reachSendWindow(system, ticket)
    else await reachRandomMoment(system, ticket, options.random)

    const killedAt = performance.now()
    await system[role]().kill()
    const restarted = role === 'worker' ? system.restartWorker() : system.restartReceiver()
    const [flowedAgainMs, readyAgainMs] = await Promise.all([
      measureFlow(system, `${ticket}-after`, killedAt),
      restarted.then(() => Math.round(performance.now() - killedAt)),
    ])
    const kill = { number, role, inSendWindow, ticket, readyAgainMs, flowedAgainMs } as const
    kills.push(kill)
    options.onKill(kill)
  }
  return kills
}

async function reachSendWindow(system: DemoSystem, ticket: string): Promise<void> {
  await system.crm.script(`${ticket}.updated/update`, 'apply_then_wait')
  await pushTicket(system, ticket)
  await waitUntil(`the CRM has the request of ${ticket}`, async () => (await system.crm.requests(ticket)).length > 0)
}

async function reachRandomMoment(system: DemoSystem, ticket: string, random: () => number): Promise<void> {
  for (const suffix of ['', '-b', '-c']) await pushTicket(system, `${ticket}${suffix}`)
  await sleep(random() * RANDOM_MOMENT_MS)
}

async function measureFlow(system: DemoSystem, ticket: string, killedAt: number): Promise<number> {
  await pushTicket(system, ticket)
  await waitUntil(`${ticket} has its update`, async () => (await system.crm.effects(ticket)).length > 0, 30_000)
  return Math.round(performance.now() - killedAt)
}

function pushTicket(system: DemoSystem, ticket: string): Promise<void> {
  return system.queue.enqueue({ id: `dlv-${ticket}`, source: 'tickets', body: ticketEvent(ticket, 'ticket.updated') })
}
