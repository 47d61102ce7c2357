import type { Logger } from 'pino'
import type { WorkerConfig, WorkerSettings } from './worker-settings.js'

export type StartWorkerOptions = {
  readonly settings: WorkerSettings
  readonly config: WorkerConfig
  readonly log: Logger
}

export type RunningWorker = {
  readonly healthPort: number
  /** Stops leasing, lets requests in flight end, records their outcomes, closes. Bounded by `settings.graceMs`. */
  readonly stop: () => Promise<void>
}

/** A start that was refused with sentences for the person who runs it. `exitCode`: 7 unreachable, 2 configuration. */
export class WorkerStartRefused extends Error {
  override readonly name = 'WorkerStartRefused'
  readonly problems: readonly string[]
  readonly exitCode: 2 | 7

  constructor(problems: readonly string[], exitCode: 2 | 7) {
    super(problems.join('\n'))
    this.problems = problems
    this.exitCode = exitCode
  }
}

/** Starts draining. Throws `WorkerStartRefused` where it cannot work. */
export async function startWorker(options: StartWorkerOptions): Promise<RunningWorker> {
  throw new WorkerStartRefused([`worker ${options.settings.instance} cannot start yet`], 2)
}
