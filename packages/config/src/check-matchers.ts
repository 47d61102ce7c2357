import { formatPath } from './format-path.js'
import type { MatcherParts } from './matcher-schema.js'
import { type ConfigProblem, error, warning } from './problem.js'

export type CheckedMatchers = {
  readonly matchers: readonly MatcherParts[]
  readonly hasKey: boolean
  readonly responseCapBytes: number
}

/** Rules between the matchers of one destination. */
export function checkMatchers(path: string, checked: CheckedMatchers): readonly ConfigProblem[] {
  return checked.matchers.flatMap((matcher, index) => checkOne(formatPath(path, ['matchers', index]), matcher, checked))
}

function checkOne(at: string, matcher: MatcherParts, checked: CheckedMatchers): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = []
  const { outcome, decidesEarlier = false } = matcher
  const isDecisive = outcome === 'rejected' || outcome === 'key_reused' || outcome === 'gone'
  if (decidesEarlier && !isDecisive) {
    const why =
      outcome === 'accepted' || outcome === 'repeat'
        ? 'a yes under the same key decides earlier attempts in any case'
        : 'only a definite no can decide an earlier attempt'
    problems.push(error(`${at}.decidesEarlier`, `has no meaning with outcome ${outcome}: ${why}; leave it out`))
  }
  if (matcher.body !== undefined && checked.responseCapBytes === 0) {
    problems.push(error(`${at}.body`, 'is never read: responseCap is 0; raise it, or match on status and headers'))
  }
  if (outcome === 'in_progress' && !checked.hasKey) {
    problems.push(warning(`${at}.outcome`, 'counts as rejected: without an idempotency key nobody can ask again'))
  }
  const isLast = checked.matchers.at(-1) === matcher
  if (!isLast && matcher.status === undefined && matcher.headers === undefined && matcher.body === undefined) {
    problems.push(warning(at, 'holds for every answer, so the matchers after it are never asked; move it to the end'))
  }
  return problems
}
