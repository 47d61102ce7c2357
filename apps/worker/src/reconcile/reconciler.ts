import { type DestinationContract, quietMs } from '@counterfoil/core'
import { type AskedLookup, askDue, type Database, hasOpenDoubts, reviewDoubts, reviewStrangers } from '@counterfoil/db'
import type { Logger } from 'pino'
import type { Service, ServiceRun } from '../services/service.js'
import { type AskableContract, isAskable, type Lookups, lookupLeaseMs, openLookups } from './open-lookups.js'
import { findingLine, reconcileOne } from './reconcile-one.js'

export type ReconcilerOptions = {
  readonly database: Database
  readonly destinations: ReadonlyMap<string, DestinationContract>
  /** In whose name is asked. */
  readonly instance: string
  /** Entries became due for this destination. */
  readonly onDue: (destination: string) => void
  readonly random: () => number
  readonly log: Logger
}

export type Reconciler = {
  readonly service: Service
  /** Asks nothing more, ends the questions that are open, and resolves when their findings are written. */
  stop(): Promise<void>
}

type Desk = { readonly contract: AskableContract; readonly lookups: Lookups; open: number }

/** Questions are minutes apart; this is how soon a doubt that has become quiet is noticed. */
const EVERY_MS = 2_000

/**
 * Asks destinations about entries held as uncertain: few at a time, ever more seldom, and each under a lease of its own,
 * so that two reconcilers never ask about one at once. A run only puts questions on record and starts them: their
 * answers may take as long as a send, and no other service waits for them.
 */
export function createReconciler(options: ReconcilerOptions): Reconciler {
  const { database, destinations } = options
  const desks = new Map<string, Desk>()
  for (const contract of destinations.values()) {
    if (isAskable(contract)) desks.set(contract.name, { contract, lookups: openLookups(contract), open: 0 })
  }
  const running = new Set<Promise<void>>()
  let stopping: Promise<void> | null = null

  async function runOnce(): Promise<ServiceRun> {
    let asked = 0
    if (stopping === null && (await hasOpenDoubts(database))) {
      await reviewStrangers(database, [...destinations.keys()])
      for (const contract of destinations.values()) {
        const { name, lookup, reviewWindowMs = null } = contract
        await reviewDoubts(database, { destination: name, reviewWindowMs, maxProbes: lookup?.maxProbes ?? 0 })
        const desk = desks.get(name)
        if (desk !== undefined) asked += await askSome(desk)
      }
    }
    return { counts: { asked }, destinations: [], more: false }
  }

  async function askSome(desk: Desk): Promise<number> {
    const { contract } = desk
    const { lookup } = contract
    const limit = lookup.concurrency - desk.open
    if (limit <= 0 || stopping !== null) return 0
    const questions = await askDue(database, {
      destination: contract.name,
      limit,
      concurrency: lookup.concurrency,
      quietMs: quietMs(contract),
      leaseMs: lookupLeaseMs(contract),
      gapMs: lookup.firstMs,
      maxProbes: lookup.maxProbes,
      worker: options.instance,
    })
    for (const asked of questions) start(desk, asked)
    return questions.length
  }

  function start(desk: Desk, asked: AskedLookup): void {
    desk.open += 1
    const work = reconcile(desk, asked).finally(() => {
      desk.open -= 1
      running.delete(work)
    })
    running.add(work)
  }

  /** Never rejects: a finding that can't be written down is a lease that runs out, and is asked for again. */
  async function reconcile({ contract, lookups }: Desk, asked: AskedLookup): Promise<void> {
    const { log, onDue, random } = options
    try {
      const done = await reconcileOne(asked, { database, contract, ask: lookups.ask, random })
      log.info(findingLine(asked, done), 'doubt.asked')
      if (done.effect === 'returned') onDue(asked.destination)
    } catch (error) {
      log.warn({ destination: asked.destination, entry: asked.entry, err: error }, 'doubt.finding_not_recorded')
    }
  }

  async function stop(): Promise<void> {
    for (const { lookups } of desks.values()) lookups.giveUp()
    await Promise.all(running)
    await Promise.all([...desks.values()].map(({ lookups }) => lookups.close()))
  }

  return {
    service: { name: 'reconcile', everyMs: EVERY_MS, runOnce },
    stop: () => {
      stopping ??= stop()
      return stopping
    },
  }
}
