import type { LogLevel } from './create-logger.js'
import type { ConfigProblem } from './problem.js'

/** What a process needs from its environment. Durations in ms, sizes in bytes. Holds credentials: never log it. */
export type Settings = {
  readonly databaseUrl: string
  /** A role that may act; viewers lack it. `null`: none was given. */
  readonly operatorDatabaseUrl: string | null
  /** Most database connections of this process. */
  readonly databasePool: number
  readonly configPath: string
  /** Where pushes arrive; port 0 takes a free one. */
  readonly host: string
  readonly port: number
  /** Private: probes only. Default port 8081 for the receiver, 8082 for the worker. */
  readonly healthHost: string
  readonly healthPort: number
  /** `null`: BullMQ's PostgreSQL back end on the same database. */
  readonly redisUrl: string | null
  readonly logLevel: LogLevel
  readonly spoolDir: string
  /** Names this process in evidence. */
  readonly instance: string
  readonly maxQueuedPushes: number
  readonly maxQueuedBytes: number
  /** How far this machine's clock may be off the database's before pushes are answered 503. */
  readonly clockToleranceMs: number
  /** How long a stop may take. */
  readonly graceMs: number
  /** How long a stop goes on accepting while it is already unready, so that load balancers notice. */
  readonly drainDelayMs: number
  /** Longest time between two looks for due entries. */
  readonly pollMs: number
  readonly operatorToken: string | null
}

export type ReadSettingsResult =
  /** `problems` holds warnings only. */
  | { readonly kind: 'read'; readonly settings: Settings; readonly problems: readonly ConfigProblem[] }
  | { readonly kind: 'invalid'; readonly problems: readonly ConfigProblem[] }

/** Which process asks: decides the default of the health port. */
export type ProcessRole = 'receiver' | 'worker' | 'cli'
