import type { IntakeStore, KeyMaterial, SourceContract } from '@counterfoil/core'
import type { Logger } from 'pino'
import type { AckRecorder } from './ack-recorder.js'
import type { ClockReading } from './clock-offset.js'
import type { IntakeBudget } from './intake-budget.js'
import type { RefusalLog } from './refusal-log.js'
import type { UnclaimedSpool } from './unclaimed-spool.js'

/** What the spine works with. Time, chance and ids are passed in. */
export type PushDeps = {
  /** By exact path: a Map, so `constructor` and `__proto__` are plain unknown paths. */
  readonly sourcesByPath: ReadonlyMap<string, SourceContract>
  readonly store: IntakeStore
  /** Keys that senders publish. */
  readonly keyMaterial: KeyMaterial
  /** Gives the consent that a handshake asks for; resolves with `null`, or with why it could not. Never rejects. */
  readonly confirm: (url: string) => Promise<string | null>
  readonly budget: IntakeBudget
  readonly acks: Pick<AckRecorder, 'record'>
  readonly spool: Pick<UnclaimedSpool, 'add' | 'noteCommit'>
  readonly refusals: RefusalLog
  /** The time by the database clock, or why it is not known. */
  readonly readClock: () => ClockReading
  /** A hint that a destination has entries due: fire and forget. */
  readonly wake: (destination: string) => void
  readonly newId: () => string
  readonly random: () => number
  /** How long a body may take to arrive, ms. */
  readonly bodyTimeoutMs: number
  /**
   * True once nothing new is accepted: answers then end their connection. Not earlier, since a client that is asked to
   * connect anew would stand in the very queue that is dropped with the listening socket.
   */
  readonly isClosing: () => boolean
  readonly log: Logger
}
