import type { ConditionalUpdate } from '@counterfoil/core'
import type { PoolClient } from 'pg'
import { type ClientResult, useClient } from '../connection/use-client.js'
import { type Arrival, giveUp } from './batching/arrival.js'
import type { Before, TryResult } from './batching/land-batch.js'
import { landPlain, settleLanded } from './claim/land-plain.js'
import type { IntakeStoreOptions } from './intake-options.js'
import { createTableFinder } from './transition/find-subject-table.js'
import { landAlone } from './transition/land-alone.js'
import { landTransitions } from './transition/land-transitions.js'

export type Execute = (batch: readonly Arrival[], before: Before) => Promise<TryResult>

export type Executors = {
  readonly plain: Execute
  readonly alone: Execute
  readonly transition: (transition: ConditionalUpdate, isolate: (arrival: Arrival) => void) => Execute
}

/**
 * How long a shared batch waits for a claim that a stranger's open transaction holds, before the one that needs it is
 * found by halving and runs alone. Commits of other batches take 1 to 20 ms here.
 */
const SHARED_LOCK_TIMEOUT_MS = 200
/** Its parts wait less: 256 pushes are halved eight times, which took 1.8 s with the full wait each and 0.6 s so. */
const SEARCH_LOCK_TIMEOUT_MS = 50

/** A batch that takes longer has met a server that doesn't answer any more. */
const CLIENT_BOUND_MS = 15_000
const CLIENT_GRACE_MS = 1_000

const CUSTOM_TIMEOUT_MS = 5_000

/** How much earlier than the push's deadline the database gives up, so that its answer still finds somebody. */
const DEADLINE_MARGIN_MS = 25
const LEAST_TIMEOUT_MS = 50

/** The three ways to run a batch in one transaction, from a connection of the pool to settled arrivals. */
export function createExecutors(options: IntakeStoreOptions & { readonly newId: () => string }): Executors {
  const { database, instance, newId, log } = options
  const findTable = createTableFinder()
  const { statementTimeoutMs } = database.options
  const boundMs = statementTimeoutMs > 0 ? statementTimeoutMs + CLIENT_GRACE_MS : CLIENT_BOUND_MS

  async function run<T>(
    timeoutMs: number,
    work: (client: PoolClient) => Promise<T>,
    settle: (value: T) => void,
  ): Promise<TryResult> {
    const result: ClientResult<T> = await useClient(database, timeoutMs, work)
    if (result.kind === 'failed') {
      log.warn({ cause: result.failure.cause, kind: result.failure.kind }, 'intake.batch_failed')
      return { kind: 'failed', failure: result.failure, sent: result.sent }
    }
    settle(result.value)
    return { kind: 'landed' }
  }

  return {
    plain: (batch, before) =>
      run(
        boundMs,
        (client) => {
          const deliveries = batch.flatMap((arrival) => arrival.push.deliveries)
          return landPlain(client, deliveries, {
            instance,
            lockTimeoutMs: before.searching ? SEARCH_LOCK_TIMEOUT_MS : SHARED_LOCK_TIMEOUT_MS,
            repeat: isRepeat(batch, before),
          })
        },
        (landed) => settleLanded(batch, landed),
      ),

    transition: (transition, isolate) => (batch, before) =>
      run(
        boundMs,
        async (client) =>
          landTransitions(client, batch, await findTable(client, transition), {
            instance,
            newId,
            lockTimeoutMs: before.searching ? SEARCH_LOCK_TIMEOUT_MS : SHARED_LOCK_TIMEOUT_MS,
            repeat: isRepeat(batch, before),
          }),
        ({ landed, claimed, held }) => {
          settleLanded(claimed, landed)
          for (const arrival of held) isolate(arrival)
        },
      ),

    alone: async (batch) => {
      const [arrival] = batch
      if (arrival === undefined) return { kind: 'landed' }
      const remainingMs = arrival.deadlineAt - performance.now() - DEADLINE_MARGIN_MS
      const timeoutMs = Math.max(LEAST_TIMEOUT_MS, Math.min(options.customTimeoutMs ?? CUSTOM_TIMEOUT_MS, remainingMs))
      return run(
        timeoutMs + boundMs,
        (client) =>
          landAlone(client, database.knex, arrival.push.deliveries, { instance, newId, findTable, timeoutMs }),
        (result) => {
          if (result.kind === 'landed') settleLanded([arrival], result.landed)
          else if (result.kind === 'refused') arrival.settle({ ...result, outcome: 'not_due' })
          else giveUp(arrival, result.cause)
        },
      )
    },
  }
}

/** May an arrival of this batch be on record already, from a try whose reply was lost? */
function isRepeat(batch: readonly Arrival[], { tries }: Before): boolean {
  return tries > 0 || batch.some((arrival) => arrival.doubtful)
}
