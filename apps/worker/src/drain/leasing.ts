import type { LeasedEntry } from '@counterfoil/core'
import { classifyFailure } from '@counterfoil/db'
import type { Logger } from 'pino'
import { createBackoff, wait } from './backoff.js'

/** What leasing needs of the database. */
export type LeaseStore = {
  leaseDue(request: {
    readonly limit: number
    readonly dueFrom: Date | null
    readonly token: string
  }): Promise<readonly LeasedEntry[]>
  handBackLease(token: string): Promise<number>
}

export type LeasingOptions = {
  readonly destination: string
  readonly store: LeaseStore
  readonly newToken: () => string
  readonly now: () => number
  readonly random: () => number
  readonly log: Logger
}

export type Leasing = {
  /** None while the database is away: then it answers after a growing wait of at most 2 s. Never rejects. */
  lease(request: { readonly limit: number; readonly dueFrom: Date | null }): Promise<readonly LeasedEntry[]>
  /** Gives back what was leased and not sent. Never rejects: what can't be given back now is so before the next lease. */
  giveBack(entries: readonly LeasedEntry[]): Promise<void>
}

/** The server may still have been running a statement whose reply was lost: its rows are looked for once more after this, ms. */
const LOOK_AGAIN_MS = 15_000

type Lost = { readonly token: string; readonly notBefore: number; readonly isSecondLook: boolean }

/**
 * Lease calls that survive the loss of their reply. Each call has a token of its own: if the reply does not come, the
 * rows it may have moved are handed back by that token, so that they are sent soon and never read as "worker lost".
 */
export function createLeasing(options: LeasingOptions): Leasing {
  const { store, log, destination } = options
  const backoff = createBackoff({ firstMs: 100, capMs: 2_000, random: options.random })
  let lost: readonly Lost[] = []
  let isAway = false

  async function lease(request: { readonly limit: number; readonly dueFrom: Date | null }) {
    const token = options.newToken()
    try {
      await handBackLost()
      const entries = await store.leaseDue({ ...request, token })
      if (isAway) log.info({ destination }, 'lease.resumed')
      isAway = false
      backoff.reset()
      return entries
    } catch (error) {
      await noteFailure(error, token)
      return []
    }
  }

  async function noteFailure(error: unknown, token: string): Promise<void> {
    const { kind, cause } = classifyFailure(error)
    // Any other failure is the server's own word that nothing was leased.
    if (kind === 'connection') lost = [...lost, { token, notBefore: 0, isSecondLook: false }]
    const waitMs = backoff.nextMs()
    if (!isAway) log.warn({ destination, cause, waitMs }, 'lease.failed')
    isAway = true
    await wait(waitMs)
  }

  async function handBackLost(): Promise<void> {
    for (const one of lost) {
      if (one.notBefore > options.now()) continue
      const returned = await store.handBackLease(one.token)
      if (returned > 0) log.info({ destination, returned }, 'lease.handed_back')
      lost = lost.filter((other) => other !== one)
      if (!one.isSecondLook) {
        lost = [...lost, { token: one.token, notBefore: options.now() + LOOK_AGAIN_MS, isSecondLook: true }]
      }
    }
  }

  async function giveBack(entries: readonly LeasedEntry[]): Promise<void> {
    const tokens = new Set(entries.map((entry) => entry.lease.token))
    lost = [...lost, ...[...tokens].map((token) => ({ token, notBefore: 0, isSecondLook: true }))]
    try {
      await handBackLost()
    } catch (error) {
      log.warn({ destination, cause: classifyFailure(error).cause }, 'lease.not_handed_back')
    }
  }

  return { lease, giveBack }
}
