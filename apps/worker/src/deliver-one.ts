import { hash } from 'node:crypto'
import {
  type AttemptOutcome,
  classify,
  type Decision,
  databaseNow,
  decide,
  heldBack,
  judgeLease,
  type LeasedEntry,
  type Sent,
} from '@counterfoil/core'
import { attemptLine } from './attempt-line.js'
import type { DeliverDeps, Delivered } from './deliver-deps.js'
import { judgeSendBefore } from './judge-send-before.js'

/**
 * The whole story of one attempt: judge the lease → send → classify → decide → close. The lease row is already the
 * durable evidence that this attempt is being made (I4), and only its owner closes it (I5).
 */
export async function deliverOne(leased: LeasedEntry, deps: DeliverDeps): Promise<Delivered> {
  const { contract } = deps
  await deps.fault('leased')
  const judged = judgeLease(leased.history, contract, databaseNow(leased, deps.now()))
  if (judged.kind === 'hold') return closeOne(leased, null, heldBack(), judged, deps)

  const sent = await deps.send(leased, judgeSendBefore(leased, contract))
  await deps.fault('sent')
  const now = databaseNow(leased, deps.now())
  const outcome = classify(sent, contract, now)
  const decision = decide(outcome, leased.history, contract, now, deps.random)
  return closeOne(leased, sent, outcome, decision, deps)
}

async function closeOne(
  leased: LeasedEntry,
  sent: Sent | null,
  outcome: AttemptOutcome,
  decision: Decision,
  deps: DeliverDeps,
): Promise<Delivered> {
  const mayHaveLeft = sent !== null && (sent.kind === 'answered' || sent.headersHandedOver !== false)
  const closed = await deps.close({
    leased,
    worker: deps.worker,
    outcome,
    decision,
    durationMs: sent?.durationMs ?? null,
    detail: sent?.kind === 'failed' ? `${sent.code}: ${sent.message}` : null,
    // In a header, in the bytes, or as what they are about: whatever the destination recognises a repeat by.
    keySent: mayHaveLeft && deps.contract.idempotency.kind !== 'none' ? leased.idempotencyKey : null,
    // Of the very bytes that went out, not copied from the entry: sameness is measured (I3).
    digestSent: mayHaveLeft ? hash('sha256', leased.body, 'buffer') : null,
  })
  await deps.fault('closed')
  if (deps.log.isLevelEnabled('info')) {
    deps.log.info(attemptLine(leased, sent, outcome, decision, closed), 'delivery.attempted')
  }
  return { outcome, decision, closed }
}
