import type { KeyMaterial } from '../intake/key-material.js'
import type { SourceContract } from '../intake/source-contract.js'
import type { Verification } from '../intake/verification.js'
import { listBodyReadings } from './list-body-readings.js'
import { listHeaderReadings } from './list-header-readings.js'
import { listKeyReadings } from './list-key-readings.js'
import { listKeyWindows } from './list-key-windows.js'
import { listUrlReadings } from './list-url-readings.js'
import type { PushSubject, Variation, VariedPart } from './variation.js'

/** One or two things that, were they otherwise, would make the signature right. */
export type PushFinding = {
  readonly parts: readonly VariedPart[]
  readonly codes: readonly string[]
  /** Complete "it would be valid if …", joined by "and". */
  readonly words: readonly string[]
  readonly next: readonly string[]
  readonly keyId: string | null
}

export type DiagnosedPush = {
  readonly verifier: Pick<SourceContract, 'verify' | 'binds'>
  readonly subject: PushSubject
  /** Epoch ms. */
  readonly at: number
  readonly material: KeyMaterial
  /** The request target of the capture. */
  readonly target: string
  readonly everything: Buffer | null
}

/** Two mistakes at once are looked for in bodies up to this size: their number is multiplied then. */
const MAX_PAIRED_BYTES = 1_048_576

/**
 * Why a push was not believed, found by judging variations of it with the verifier itself. Only the likely mistakes are
 * tried, and nothing is guessed: a variation counts when its signature is right.
 */
export async function diagnosePush(push: DiagnosedPush): Promise<readonly PushFinding[]> {
  const groups = listGroups(push)
  const alone = await Promise.all(
    groups.map((variations) =>
      findFirst(
        push,
        variations.map((one) => [one]),
      ),
    ),
  )
  const found = alone.filter((finding) => finding !== null)
  if (found.length > 0 || push.subject.request.rawBody.length > MAX_PAIRED_BYTES) return found
  for (const pairs of pairUp(groups)) {
    const finding = await findFirst(push, pairs)
    if (finding !== null) return [finding]
  }
  return []
}

function listGroups({ verifier, subject, at, target, everything }: DiagnosedPush): readonly (readonly Variation[])[] {
  const { request, keys } = subject
  const { binds } = verifier
  const groups = [
    listKeyWindows(keys, at),
    listHeaderReadings(request.headers),
    listKeyReadings(keys),
    binds.body ? listBodyReadings(request.rawBody, everything) : [],
    binds.url ? listUrlReadings(request, target) : [],
  ]
  return groups.filter((group) => group.length > 0)
}

function* pairUp(groups: readonly (readonly Variation[])[]): Generator<readonly (readonly Variation[])[]> {
  for (const [index, left] of groups.entries()) {
    for (const right of groups.slice(index + 1)) {
      yield left.flatMap((one) => right.map((other) => [one, other]))
    }
  }
}

async function findFirst(
  { verifier, subject, at, material }: DiagnosedPush,
  candidates: readonly (readonly Variation[])[],
): Promise<PushFinding | null> {
  for (const variations of candidates) {
    const varied = variations.reduce((before, { apply }) => apply(before), subject)
    const verdict = await verifier.verify(varied.request, varied.keys, at, material)
    if (!isBelieved(verdict)) continue
    return {
      parts: variations.map(({ part }) => part),
      codes: variations.map(({ code }) => code),
      words: variations.map(({ words }) => words),
      next: variations.map(({ next }) => next),
      keyId: verdict.kind === 'verified' ? verdict.keyId : null,
    }
  }
  return null
}

/** A refusal that knows when it was signed says that the signature is right. */
function isBelieved(verdict: Verification): boolean {
  return verdict.kind === 'verified' || (verdict.kind === 'refused' && verdict.signedAt !== undefined)
}
