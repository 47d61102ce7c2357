import type { Server } from 'node:http'
import type { Logger } from 'pino'
import type { PushServer } from './create-push-server.js'
import type { Intake } from './open-intake.js'
import { within } from './within.js'

/** What a stop winds up, from the door inwards. */
export type StoppableReceiver = {
  readonly pushServer: PushServer
  readonly healthServer: Server
  readonly intake: Pick<Intake, 'beginDrain' | 'whenAnswered' | 'depth' | 'close'>
  readonly drainDelayMs: number
  readonly graceMs: number
  readonly log: Logger
}

/** How long idle kept-alive connections are left open after the door closed, for pushes that are already on the wire. */
const LINGER_MS = 500
/** Kept back of the grace for acks and spool, which matter more than a sender that does not read its answer. */
const RECORDING_MS = 1500

/**
 * Drains without dropping a push: unready at once, and the door stays open for the announced delay, since load
 * balancers notice late; then nothing new is accepted, what was admitted gets its answer, and the evidence is
 * flushed. Ends within `graceMs`.
 */
export async function stopReceiver(parts: StoppableReceiver): Promise<void> {
  const { pushServer, healthServer, intake, log } = parts
  const startedAt = performance.now()
  const endsAt = startedAt + parts.graceMs
  const answersEndAt = endsAt - Math.min(RECORDING_MS, parts.graceMs / 2)
  intake.beginDrain()
  log.info({ ...intake.depth(), drainDelayMs: parts.drainDelayMs }, 'receiver.draining')

  await sleepUntil(Math.min(startedAt + parts.drainDelayMs, answersEndAt))
  const closed = new Promise<void>((resolve) => pushServer.server.once('close', resolve))
  pushServer.stopAccepting()
  await within(closed, Math.min(performance.now() + LINGER_MS, answersEndAt))
  await within(intake.whenAnswered(), answersEndAt)
  pushServer.closeIdle()
  await within(closed, answersEndAt)
  const unanswered = intake.depth().pushes
  pushServer.closeAll()

  const { lostAcks } = await intake.close(endsAt)
  healthServer.closeAllConnections()
  healthServer.close()
  log.info({ unanswered, lostAcks, tookMs: Math.round(performance.now() - startedAt) }, 'receiver.stopped')
}

function sleepUntil(at: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, at - performance.now())))
}
