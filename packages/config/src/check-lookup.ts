import {
  type DestinationContract,
  isPlaceholder,
  type JsonTemplate,
  listPlaceholders,
  PLACEHOLDERS,
} from '@counterfoil/core'
import { formatDuration } from './duration.js'
import { formatPath } from './format-path.js'
import type { LookupParts, LookupRuleParts } from './lookup-schema.js'
import { suggestName } from './nearest-name.js'
import { type ConfigProblem, error, warning } from './problem.js'
import { splitUrl } from './resolve-lookup.js'

/** Statuses of a request that was not answered on its merits: they say nothing about the effect. */
const SAYS_NOTHING: readonly number[] = [401, 403, 407, 408, 425, 429]

/** Rules between the values of one lookup, and between it and its destination. */
export function checkLookup(path: string, parts: LookupParts, contract: DestinationContract): readonly ConfigProblem[] {
  return [
    ...checkTarget(path, parts, contract),
    ...checkMethod(path, parts),
    ...checkTimes(path, contract),
    ...parts.rules.flatMap((rule, index) => checkRule(formatPath(path, ['rules', index]), rule)),
    ...checkReach(path, parts),
  ]
}

function checkTarget(path: string, { url }: LookupParts, contract: DestinationContract): readonly ConfigProblem[] {
  const at = `${path}.url`
  const { origin, target } = splitUrl(url)
  const problems = listUnknownPlaceholders(at, target)
  if (origin !== null) {
    if (listPlaceholders(origin).length > 0)
      return [error(at, 'has a placeholder in its host; only path and query may')]
    const own = new URL(contract.url).origin
    if (!URL.canParse(origin) || new URL(origin).origin !== own) {
      return [error(at, `is not on ${own}: the destination's credentials would travel to another host. Give a path`)]
    }
  }
  return target.includes('#') ? [...problems, error(at, 'has a fragment, which is never sent')] : problems
}

function checkMethod(path: string, { method, search, body }: LookupParts): readonly ConfigProblem[] {
  if (method !== 'POST') {
    if (body !== undefined) return [error(`${path}.body`, "needs method: 'POST' and search: true")]
    return search === undefined ? [] : [error(`${path}.search`, "is only for method: 'POST'; remove it")]
  }
  if (search === undefined) {
    return [
      error(`${path}.method`, 'is POST: asking must never change anything. Add search: true if this one only searches'),
    ]
  }
  return body === undefined ? [] : templates(body).flatMap((text) => listUnknownPlaceholders(`${path}.body`, text))
}

function checkTimes(path: string, { lookup, reviewWindowMs }: DestinationContract): readonly ConfigProblem[] {
  if (lookup === undefined) return []
  const problems: ConfigProblem[] = []
  if (lookup.firstMs > lookup.capMs) {
    problems.push(error(`${path}.first`, `is longer than lookup.cap (${formatDuration(lookup.capMs)})`))
  }
  if (reviewWindowMs !== undefined && reviewWindowMs < lookup.graceMs) {
    const window = formatDuration(reviewWindowMs)
    problems.push(
      warning(`${path}.grace`, `is longer than reviewWindow (${window}): a doubt is overdue before it is asked about`),
    )
  }
  return problems
}

function checkRule(path: string, rule: LookupRuleParts): readonly ConfigProblem[] {
  const tests = [rule.equals, rule.exists, rule.empty].filter((test) => test !== undefined).length
  const problems: ConfigProblem[] = []
  if (tests > 1) problems.push(error(path, 'has more than one of equals, exists and empty; make it two rules'))
  if (tests > 0 && rule.pointer === undefined) problems.push(error(path, 'tests something, but has no pointer to it'))
  if (rule.status === undefined && rule.pointer === undefined) {
    problems.push(error(path, 'has neither status nor pointer, so it would decide every answer'))
  }
  if (rule.finding !== 'still_unknown' && (rule.status ?? []).some(coversNothing)) {
    const why = 'refusals of the question and server errors say nothing about what became of the action'
    problems.push(error(`${path}.status`, `can't be ${rule.finding}: ${why}`))
  }
  return typeof rule.equals === 'string'
    ? [...problems, ...listUnknownPlaceholders(`${path}.equals`, rule.equals)]
    : problems
}

/** Whole classes are meant without those that say nothing; a range that holds only such, or names one, is a mistake. */
function coversNothing([from, to]: readonly [number, number]): boolean {
  return from >= 500 || (from === to && SAYS_NOTHING.includes(from)) || (from === 400 && to === 499)
}

/** A lookup that can only ever say one thing is worth a word. */
function checkReach(path: string, { rules }: LookupParts): readonly ConfigProblem[] {
  const found = new Set(rules.map(({ finding }) => finding))
  if (!found.has('took_effect') && !found.has('did_not')) {
    return [error(`${path}.rules`, 'never find anything out: give one with took_effect or did_not')]
  }
  return []
}

function listUnknownPlaceholders(path: string, text: string): readonly ConfigProblem[] {
  return listPlaceholders(text)
    .filter((name) => !isPlaceholder(name))
    .map((name) => error(path, `{${name}} is no placeholder${suggestName(name, [...PLACEHOLDERS, 'reference.name'])}`))
}

function templates(body: JsonTemplate): readonly string[] {
  if (typeof body === 'string') return [body]
  if (typeof body !== 'object' || body === null) return []
  return Object.values(body).flatMap((item: JsonTemplate) => templates(item))
}
