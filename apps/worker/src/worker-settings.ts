import type { DestinationContract, SourceContract, Transition } from '@counterfoil/core'

/** What the worker needs of the process settings. */
export type WorkerSettings = {
  readonly databaseUrl: string
  /** Most connections of the hot path. */
  readonly databasePool: number
  /** `null`: wake-ups travel through PostgreSQL. */
  readonly redisUrl: string | null
  readonly healthHost: string
  /** 0 takes a free one. */
  readonly healthPort: number
  /** Unique per process: a lease names its holder by it. */
  readonly instance: string
  /** How long `stop` lets requests in flight finish, ms. */
  readonly graceMs: number
  /** Longest time between two looks at the outbox, ms. */
  readonly pollMs: number
}

/** What the worker needs of the configuration. */
export type WorkerConfig = {
  readonly sources: ReadonlyMap<string, SourceContract>
  readonly destinations: ReadonlyMap<string, DestinationContract>
  readonly transitions: ReadonlyMap<string, Transition>
}
