import type { UnclaimedTrace } from '@counterfoil/core'

/**
 * Traces of authenticated pushes that got no claim. They outlive the process on local disk until the database takes
 * them, so that "authenticated, never claimed" has data behind it while the database is away.
 */
export type UnclaimedSpool = {
  /** Fire and forget: never throws, never waits, also when the disk is full or read-only. */
  readonly add: (trace: UnclaimedTrace) => void
  /** Says that the store just committed something: what is spooled is written down. Cheap when nothing is. */
  readonly noteCommit: () => void
  /** Writes down what it can until `deadlineAt` (`performance.now()` ms); the rest stays on disk for the next process. */
  readonly close: (deadlineAt: number) => Promise<void>
}
