import { randomUUID } from 'node:crypto'
import {
  type AckRecord,
  type ClaimOptions,
  type ClaimResult,
  createMemoryIntakeStore,
  type IntakeStore,
  type PlannedPush,
  type UnclaimedTrace,
} from '@counterfoil/core'

/** The store in memory, whose next claim may be scripted, and which keeps what it was told. */
export type ScriptedStore = IntakeStore & {
  readonly claims: PlannedPush[]
  readonly acks: AckRecord[]
  readonly unclaimed: UnclaimedTrace[]
  /** Answers the next claim instead of the memory. */
  readonly script: (answer: (push: PlannedPush, options: ClaimOptions) => Promise<ClaimResult> | ClaimResult) => void
}

export function createScriptedStore(): ScriptedStore {
  const memory = createMemoryIntakeStore({ now: Date.now, newId: randomUUID })
  const scripted: ((push: PlannedPush, options: ClaimOptions) => Promise<ClaimResult> | ClaimResult)[] = []
  const claims: PlannedPush[] = []
  const acks: AckRecord[] = []
  const unclaimed: UnclaimedTrace[] = []

  return {
    claims,
    acks,
    unclaimed,
    script: (answer) => scripted.push(answer),
    claim: async (push, options) => {
      claims.push(push)
      const answer = scripted.shift()
      return answer === undefined ? memory.claim(push, options) : answer(push, options)
    },
    recordAcks: async (records) => {
      acks.push(...records)
      await memory.recordAcks(records)
    },
    recordUnclaimed: async (traces) => {
      unclaimed.push(...traces)
      await memory.recordUnclaimed(traces)
    },
  }
}
