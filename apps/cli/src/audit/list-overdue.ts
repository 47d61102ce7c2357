import { judgeDelivery } from '@counterfoil/core'
import { type Database, findDoubts, readTimelines } from '@counterfoil/db'
import { CommandFailure } from '../terminal/command-failure.js'
import { EXIT } from '../terminal/exit-codes.js'
import type { Listing } from './list-deliveries.js'

export type OverdueOptions = {
  readonly destination?: string
  readonly source?: string
  readonly type?: string
  readonly verdict?: string
  readonly since?: number
  readonly until?: number
  readonly limit: number
  readonly after?: string
}

/** Deliveries with an action whose doubt is overdue, oldest first. Read from the open doubts, so none is too old. */
export async function listOverdue(database: Database, options: OverdueOptions): Promise<Listing> {
  const { source, type, verdict, since, until } = options
  if ([source, type, verdict, since, until].some((filter) => filter !== undefined)) {
    const next = 'leave the other filters out; --destination, --limit and --after go with it'
    throw new CommandFailure(EXIT.usage, '--overdue lists every overdue doubt, whatever its source, type or age', next)
  }
  const { doubts, next } = await findDoubts(
    database,
    { entry: null, destination: options.destination ?? null, overdueOnly: true },
    { limit: options.limit, after: options.after ?? null },
  )
  const deliveries = [...new Set(doubts.map(({ delivery }) => delivery))]
  const timelines = await readTimelines(database, deliveries)
  return { found: timelines.map((timeline) => ({ timeline, verdict: judgeDelivery(timeline) })), next }
}
