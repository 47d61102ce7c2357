import type { SourceContract } from '@counterfoil/core'
import type { Logger } from 'pino'
import { createPushServer, type PushServer } from './create-push-server.js'
import { createHealthServer } from './health.js'
import { listen } from './listen.js'
import { type IntakeOptions, openIntake } from './open-intake.js'
import type { ReceiverSettings } from './receiver-settings.js'
import { stopReceiver } from './stop-receiver.js'

/** A receiver that takes pushes. */
export type RunningReceiver = {
  /** The port that pushes arrive on. */
  readonly port: number
  readonly healthPort: number
  /** Unready at once, then no new connections, then every admitted push gets its answer; within `graceMs`. */
  readonly stop: () => Promise<void>
}

export type ReceiverOptions = Pick<IntakeOptions, 'keyMaterial' | 'confirm'> & {
  readonly settings: ReceiverSettings
  readonly config: { readonly sources: ReadonlyMap<string, SourceContract> }
  readonly log: Logger
}

/**
 * Starts the public HTTP process. Throws `StartRefused` with one clear sentence per problem when the database is not
 * fit to take responsibility on, or when an address can't be listened on.
 */
export async function startReceiver({ settings, config, log, ...ports }: ReceiverOptions): Promise<RunningReceiver> {
  let pushServer: PushServer | null = null
  const isClosing = () => pushServer !== null && !pushServer.server.listening
  const intake = await openIntake({ settings, config, log, isClosing, ...ports })
  const server = createPushServer(intake.handler, intake.refusals)
  pushServer = server
  const healthServer = createHealthServer(intake.checkReadiness)
  try {
    const healthPort = await listen(healthServer, settings.healthHost, settings.healthPort, 'COUNTERFOIL_HEALTH')
    const port = await listen(server.server, settings.host, settings.port, 'COUNTERFOIL')
    const { instance, drainDelayMs, graceMs } = settings
    log.info({ port, healthPort, instance, sources: [...config.sources.keys()] }, 'receiver.started')
    let stopping: Promise<void> | null = null
    const stop = (): Promise<void> => {
      stopping ??= stopReceiver({ pushServer: server, healthServer, intake, drainDelayMs, graceMs, log })
      return stopping
    }
    return { port, healthPort, stop }
  } catch (error) {
    healthServer.close()
    await intake.close(performance.now() + settings.graceMs)
    throw error
  }
}
