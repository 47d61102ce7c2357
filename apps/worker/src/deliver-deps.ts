import type { AttemptOutcome, Decision, DestinationContract, LeasedEntry, Sent } from '@counterfoil/core'
import type { AttemptClose, CloseResult } from '@counterfoil/db'
import type { Logger } from 'pino'
import type { FaultPoints } from './fault-points.js'

export type DeliverDeps = {
  readonly worker: string
  readonly contract: DestinationContract
  readonly send: (leased: LeasedEntry, sendBefore: number) => Promise<Sent>
  readonly close: (close: AttemptClose) => Promise<CloseResult>
  readonly now: () => number
  readonly random: () => number
  readonly log: Logger
  readonly fault: FaultPoints
}

export type Delivered = { readonly outcome: AttemptOutcome; readonly decision: Decision; readonly closed: CloseResult }
