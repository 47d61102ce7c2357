import type { Capture } from '../capture/capture.js'
import { answerHandshake } from '../intake/answer-handshake.js'
import type { KeyMaterial } from '../intake/key-material.js'
import { planPush } from '../intake/plan-push.js'
import type { PlannedDelivery } from '../intake/planned-push.js'
import type { PushRequest } from '../intake/push-request.js'
import { readQuery, resolvePublicUrl } from '../intake/resolve-public-url.js'
import type { SourceContract } from '../intake/source-contract.js'
import type { UnavailableCause, Verification, Verified } from '../intake/verification.js'
import { diagnosePush, type PushFinding } from './diagnose-push.js'

/** How far the clock of judgement is from that of the signature. */
export type OffTime = {
  /** Epoch ms. */
  readonly signedAt: number
  /** Positive: it was signed that long before; negative: after. */
  readonly ageMs: number
  /** Judged at the moment of its signature it is valid. */
  readonly validThen: boolean
}

export type CaptureVerdict =
  | {
      readonly kind: 'valid'
      readonly verified: Verified
      readonly deliveries: readonly PlannedDelivery[]
    }
  /** Answered, and no delivery. `verified` is `null` where it comes before any signature. */
  | { readonly kind: 'handshake'; readonly verified: Verified | null; readonly name: string; readonly status: number }
  /** The signature is right, and the receiver can't use what it covers. */
  | { readonly kind: 'unusable'; readonly verified: Verified; readonly cause: string; readonly hint: string }
  | {
      readonly kind: 'invalid'
      readonly cause: string
      readonly hint: string
      readonly offTime: OffTime | null
      readonly findings: readonly PushFinding[]
    }
  /** Nothing is said of the signature: what it takes to judge it is not to be had. */
  | { readonly kind: 'unjudged'; readonly cause: UnavailableCause; readonly hint: string }

export type CaptureJudgement = {
  readonly source: SourceContract
  readonly capture: Capture
  /** Epoch ms. */
  readonly at: number
  readonly material: KeyMaterial
  readonly newId: () => string
}

/** A captured push as the receiver judges one, and why not where it does not believe it. */
export async function judgeCapture(judgement: CaptureJudgement): Promise<CaptureVerdict> {
  const { source, capture, at, material } = judgement
  const request = toRequest(source, capture)
  if (capture.method !== 'POST') {
    const asked = { request, verified: null, document: undefined }
    const answer = answerHandshake(source.handshakes, 'before_verification', asked)
    if (answer !== null) return { kind: 'handshake', verified: null, name: answer.name, status: answer.status }
  }
  const verification = await source.verify(request, source.keys(), at, material)
  switch (verification.kind) {
    case 'verified':
      return plan(judgement, request, verification)
    case 'unavailable':
      return verification.cause === 'no_active_key'
        ? explain(judgement, request, verification)
        : { kind: 'unjudged', cause: verification.cause, hint: verification.hint }
    case 'refused':
      return explain(judgement, request, verification)
  }
}

function toRequest(source: SourceContract, { method, target, headers, body }: Capture): PushRequest {
  const query = readQuery(target)
  return { method, publicUrl: resolvePublicUrl(source.publicUrl, query), query, headers, rawBody: body }
}

function plan({ source, at, newId }: CaptureJudgement, request: PushRequest, verified: Verified): CaptureVerdict {
  const planned = planPush(source, request, verified, at, newId)
  switch (planned.kind) {
    case 'planned':
      return { kind: 'valid', verified, deliveries: planned.push.deliveries }
    case 'handshake':
      return { kind: 'handshake', verified, name: planned.answer.name, status: planned.answer.status }
    case 'misconfigured':
      return { kind: 'unusable', verified, cause: planned.kind, hint: planned.hint }
    case 'stale':
    case 'malformed':
      return { kind: 'unusable', verified, cause: planned.cause, hint: planned.hint }
  }
}

/** Where only the clock speaks against it, what else there may be is looked for at the moment of its signature. */
async function explain(
  { source, capture, at, material }: CaptureJudgement,
  request: PushRequest,
  verdict: Exclude<Verification, Verified>,
): Promise<CaptureVerdict> {
  const signedAt = verdict.kind === 'refused' ? (verdict.signedAt ?? null) : null
  const keys = source.keys()
  const then = signedAt === null ? verdict : await source.verify(request, keys, signedAt, material)
  const offTime = signedAt === null ? null : { signedAt, ageMs: at - signedAt, validThen: then.kind === 'verified' }
  const told = then.kind === 'verified' ? verdict : then
  const findings =
    then.kind === 'verified'
      ? []
      : await diagnosePush({
          verifier: source,
          subject: { request, keys },
          at: signedAt ?? at,
          material,
          target: capture.target,
          everything: capture.everything,
        })
  return { kind: 'invalid', cause: told.cause, hint: told.hint, offTime, findings }
}
