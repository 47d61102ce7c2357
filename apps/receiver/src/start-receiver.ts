import type { SourceContract } from '@counterfoil/core'
import type { Logger } from 'pino'
import type { ReceiverSettings } from './receiver-settings.js'

/** A receiver that takes pushes. */
export type RunningReceiver = {
  /** The port that pushes arrive on. */
  readonly port: number
  readonly healthPort: number
  /** Unready at once, then no new connections, then every admitted push gets its answer; within `graceMs`. */
  readonly stop: () => Promise<void>
}

/**
 * Starts the public HTTP process. Throws `StartRefused` with one clear sentence per problem when the database is not
 * fit to take responsibility on, or when an address can't be listened on.
 */
export async function startReceiver(_options: {
  readonly settings: ReceiverSettings
  readonly config: { readonly sources: ReadonlyMap<string, SourceContract> }
  readonly log: Logger
}): Promise<RunningReceiver> {
  throw new Error('not composed yet')
}
