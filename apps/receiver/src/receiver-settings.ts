/** What the receiver needs of the process settings. The settings of `@counterfoil/config` satisfy it. */
export type ReceiverSettings = {
  readonly databaseUrl: string
  /** Most database connections of this process. */
  readonly databasePool: number
  /** Where pushes arrive; port 0 takes a free one. */
  readonly host: string
  readonly port: number
  /** Private: probes only. */
  readonly healthHost: string
  readonly healthPort: number
  /** `null`: wake-ups go through PostgreSQL. */
  readonly redisUrl: string | null
  readonly spoolDir: string
  /** Names this process in evidence. */
  readonly instance: string
  /** Pushes between their headers and their answer, and the bytes they hold; more are answered 503. */
  readonly maxQueuedPushes: number
  readonly maxQueuedBytes: number
  /** How far this machine's clock may be off the database's before pushes are answered 503. */
  readonly clockToleranceMs: number
  /** How long a stop may take. */
  readonly graceMs: number
  /** How long a stop goes on accepting while it is already unready, so that load balancers notice. */
  readonly drainDelayMs: number
}
