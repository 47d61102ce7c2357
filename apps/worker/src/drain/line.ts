import type { Decision, DestinationContract, LeasedEntry } from '@counterfoil/core'
import type { Logger } from 'pino'
import type { DeliverDeps } from '../deliver-deps.js'
import { deliverOne } from '../deliver-one.js'
import { type Downstream, openDownstream } from '../send/send-downstream.js'
import { createDrainer, type Drainer } from './drainer.js'
import { createLeasing, type LeaseStore } from './leasing.js'

/** Everything of one destination: its drainer and its way out. */
export type Line = { readonly drainer: Drainer; readonly downstream: Downstream }

export type LineOptions = Omit<DeliverDeps, 'send'> & {
  readonly store: LeaseStore
  readonly pollMs: number
  readonly newToken: () => string
  readonly passOn: () => void
}

export function openLine(options: LineOptions): Line {
  const { contract, log, now, random, store, newToken } = options
  const downstream = openDownstream(contract)
  const leasing = createLeasing({ destination: contract.name, store, newToken, now, random, log })
  const pauses = createPauseLog(contract, log, now)

  const onWire = new Map<LeasedEntry, () => void>()
  const deps: DeliverDeps = {
    ...options,
    send: async (leased, sendBefore) => {
      const sent = await downstream.send(leased, sendBefore)
      // Any other answer may pause the destination: nothing more goes there before that is recorded. With matchers a
      // success may say so, too.
      if (sent.kind === 'answered' && sent.status < 300 && contract.matchers.length === 0) onWire.get(leased)?.()
      return sent
    },
  }

  async function deliver(leased: LeasedEntry, leaveWire: () => void): Promise<number | null> {
    onWire.set(leased, leaveWire)
    try {
      const { decision } = await deliverOne(leased, deps)
      pauses.note(decision)
      return nextLookMs(decision)
    } catch (error) {
      // A bug: its lease will run out and be closed as uncertain, which is all that is known.
      log.error({ destination: contract.name, entry: leased.id, err: error }, 'delivery.crashed')
      return null
    } finally {
      onWire.delete(leased)
    }
  }

  const drainer = createDrainer(
    { slots: contract.concurrency, pollMs: options.pollMs, now },
    { lease: leasing.lease, giveBack: leasing.giveBack, deliver, passOn: options.passOn },
  )
  return { drainer, downstream }
}

/** When this entry, or its paused destination, is worth a look again. `null`: not by this worker's own knowledge. */
function nextLookMs(decision: Decision): number | null {
  if (decision.kind === 'retry') return decision.dueInMs
  if (decision.kind !== 'pause' || decision.pauseMs === null) return null
  return Math.max(decision.dueInMs, decision.pauseMs)
}

/** One line when a destination is paused, however many attempts said so. */
function createPauseLog(contract: DestinationContract, log: Logger, now: () => number) {
  let pausedUntil = Number.NEGATIVE_INFINITY
  return {
    note: (decision: Decision): void => {
      if (decision.kind === 'pause') {
        const { because, pauseMs } = decision
        if (now() >= pausedUntil) log.warn({ destination: contract.name, because, pauseMs }, 'destination.paused')
        pausedUntil = Math.max(pausedUntil, now() + (pauseMs ?? 60_000))
      } else if ('stopsDestination' in decision && decision.stopsDestination !== undefined) {
        log.error({ destination: contract.name, because: decision.stopsDestination }, 'destination.paused')
      }
    },
  }
}
