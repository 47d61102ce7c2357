import type { CaptureVerdict } from '@counterfoil/core'
import { toSnakeCase } from '../render/to-snake-case.js'
import type { Verifier } from './open-verifier.js'

/** The verdict as one JSON document. Every field is always there. */
export function verdictDocument(
  { of, contract }: Verifier,
  verdict: CaptureVerdict,
  at: number,
  notes: readonly string[],
): unknown {
  const verified = 'verified' in verdict ? verdict.verified : null
  const reason = 'cause' in verdict ? { cause: verdict.cause, hint: verdict.hint } : { cause: null, hint: null }
  const offTime = verdict.kind === 'invalid' ? verdict.offTime : null
  return toSnakeCase({
    schemaVersion: 1,
    source: 'source' in of ? of.source : null,
    preset: 'preset' in of ? of.preset : null,
    verdict: verdict.kind,
    judgedAt: at,
    keyId: verified?.keyId ?? null,
    signedAt: verified?.signedAt ?? offTime?.signedAt ?? null,
    binds: { ...contract.binds, body: verified?.bodyBound ?? contract.binds.body },
    deliveries:
      verdict.kind === 'valid'
        ? verdict.deliveries.map(({ deliveryId, eventType, disposition }) => ({
            deliveryId,
            eventType,
            quarantined: disposition.kind === 'quarantined' ? disposition.reason : null,
          }))
        : [],
    handshake: verdict.kind === 'handshake' ? { name: verdict.name, status: verdict.status } : null,
    ...reason,
    offTime,
    wouldBeValidIf: verdict.kind === 'invalid' ? verdict.findings : [],
    notes,
  })
}
