import type { CaptureVerdict } from '@counterfoil/core'

/**
 * A secret that is none in the sender's own form was tried as the text that it is. Where that is right, the sender
 * means another form than the preset: still not valid, and the reason is known.
 */
export function judgeWithSecret(verdict: CaptureVerdict, secretProblem: string | null): CaptureVerdict {
  if (secretProblem === null) return verdict
  const hint = `the secret ${secretProblem}`
  if (verdict.kind === 'invalid') return { ...verdict, cause: 'secret_unusable', hint }
  if (verdict.kind === 'unjudged') return verdict
  const finding = {
    parts: ['secret'] as const,
    codes: ['secret_text'],
    words: ['the secret were read as the text that it is'],
    next: ['this sender means its secret in another form than the preset does: check that it is the right preset'],
    keyId: verdict.verified?.keyId ?? null,
  }
  return { kind: 'invalid', cause: 'secret_unusable', hint, offTime: null, findings: [finding] }
}
