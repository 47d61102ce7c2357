import type {
  AckRecord,
  ClaimOptions,
  ClaimResult,
  DeliveryResult,
  IntakeStore,
  PlannedDelivery,
  PlannedPush,
  UnclaimedTrace,
} from '@counterfoil/core'

/** A store that claims in memory unless the next claim is scripted, and keeps what it was told. */
export type ScriptedStore = IntakeStore & {
  readonly claims: PlannedPush[]
  readonly acks: AckRecord[]
  readonly unclaimed: UnclaimedTrace[]
  /** Answers the next claim instead of the memory. */
  readonly script: (answer: (push: PlannedPush, options: ClaimOptions) => Promise<ClaimResult> | ClaimResult) => void
}

export function createScriptedStore(): ScriptedStore {
  const deliveries = new Map<string, { delivery: PlannedDelivery; observations: number }>()
  const scripted: ((push: PlannedPush, options: ClaimOptions) => Promise<ClaimResult> | ClaimResult)[] = []
  const claims: PlannedPush[] = []
  const acks: AckRecord[] = []
  const unclaimed: UnclaimedTrace[] = []

  const observe = (delivery: PlannedDelivery): DeliveryResult => {
    const key = JSON.stringify([delivery.source, delivery.deliveryId])
    const known = deliveries.get(key)
    if (known === undefined) {
      deliveries.set(key, { delivery, observations: 1 })
      return { kind: 'first', deliveryUuid: delivery.id, observation: 1, outcome: null }
    }
    known.observations += 1
    const same = known.delivery.identityDigest.equals(delivery.identityDigest)
    return {
      kind: same ? 'duplicate' : 'conflict',
      deliveryUuid: known.delivery.id,
      observation: known.observations,
      outcome: null,
    }
  }

  return {
    claims,
    acks,
    unclaimed,
    script: (answer) => scripted.push(answer),
    claim: async (push, options) => {
      claims.push(push)
      const answer = scripted.shift()
      if (answer !== undefined) return answer(push, options)
      return { kind: 'committed', results: push.deliveries.map(observe) }
    },
    recordAcks: async (records) => {
      acks.push(...records)
    },
    recordUnclaimed: async (traces) => {
      unclaimed.push(...traces)
    },
  }
}
