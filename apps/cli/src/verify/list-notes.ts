import type { Capture, CaptureVerdict } from '@counterfoil/core'
import type { Verifier } from './open-verifier.js'

const SIGNATURE_LIKE = /signature|hmac|-token$|-key$|^authorization$/

/** What a verdict alone does not say. Names of headers and numbers, never values. */
export function listNotes({ of, contract }: Verifier, capture: Capture, verdict: CaptureVerdict): readonly string[] {
  const notes = capture.notes.map(({ text }) => text)
  const path = capture.target.replace(/^[a-z]+:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '')
  if ('source' in of && path !== contract.path) {
    notes.push(`it was sent to another path than ${contract.path}: the receiver answers 404 there`)
  }
  if (capture.body.length > contract.bodyLimitBytes) {
    notes.push(
      `its body has ${capture.body.length} bytes, and the receiver takes ${contract.bodyLimitBytes}: it answers 413`,
    )
  }
  if (verdict.kind === 'invalid' && verdict.cause.endsWith('_missing')) {
    const names = [...capture.headers.keys()].filter((name) => SIGNATURE_LIKE.test(name))
    notes.push(
      names.length === 0
        ? 'no header of it looks like a signature: is signing switched on at the sender, and does a proxy drop headers?'
        : `headers that look like a signature: ${names.join(', ')}`,
    )
  }
  return notes
}
