import type { AnswerMatcher, StatusVerdict, ValueTest } from '@counterfoil/core'
import type { MatcherParts } from './matcher-schema.js'

type TestParts = NonNullable<MatcherParts['body']>[string]

/** One matcher as `classify` reads it. */
export function resolveMatcher(parts: MatcherParts): AnswerMatcher {
  return {
    statuses: parts.status ?? [],
    headers: Object.entries(parts.headers ?? {}).map(([header, given]) => ({ header, test: resolveTest(given) })),
    body: Object.entries(parts.body ?? {}).map(([pointer, given]) => ({ pointer, test: resolveTest(given) })),
    verdict: resolveVerdict(parts),
  }
}

function resolveTest(given: TestParts): ValueTest {
  if (Array.isArray(given)) return { kind: 'one_of', values: given }
  if (typeof given !== 'object' || given === null) return { kind: 'one_of', values: [given] }
  return { kind: given.exists ? 'exists' : 'absent' }
}

/** A word of the configuration as what it proves. */
function resolveVerdict({ outcome, decidesEarlier = false }: MatcherParts): StatusVerdict {
  const forAll = decidesEarlier ? ({ decidesEarlier: true } as const) : {}
  switch (outcome) {
    case 'repeat':
      return { kind: 'accepted', repeat: true }
    case 'rejected':
      return { kind: 'rejected', reason: 'refused', ...forAll }
    case 'key_reused':
    case 'gone':
      return { kind: 'rejected', reason: outcome, ...forAll }
    case 'in_progress':
      return { kind: 'in_progress_with_key' }
    case 'uncertain':
      return { kind: 'uncertain', cause: 'by_matcher' }
    case 'held':
      return { kind: 'uncertain', cause: 'by_matcher', retryTellsNothing: true }
    case 'accepted':
    case 'unauthorised':
    case 'deferred':
    case 'not_processed':
      return { kind: outcome }
  }
}
