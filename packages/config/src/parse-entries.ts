import type { z } from 'zod'
import { formatPath } from './format-path.js'
import { suggestName } from './nearest-name.js'
import { type ConfigProblem, error } from './problem.js'

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/

export type ParsedEntry<T> = { readonly name: string; readonly path: string; readonly parts: T }

/**
 * The named entries of one section, each checked by itself, so that one bad entry hides no problem of another.
 */
export function parseEntries<T>(
  section: string,
  given: unknown,
  schemaOf: (value: unknown) => z.ZodType<T>,
): { readonly entries: readonly ParsedEntry<T>[]; readonly problems: readonly ConfigProblem[] } {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    const what = given === undefined ? 'is missing' : 'must be an object'
    return { entries: [], problems: [error(section, `${what}; give { name: { … } }`)] }
  }
  const entries: ParsedEntry<T>[] = []
  const problems: ConfigProblem[] = []
  for (const [name, value] of Object.entries(given)) {
    const path = formatPath(section, [name])
    if (!NAME.test(name)) {
      problems.push(error(path, 'is not a usable name: 1 to 64 letters, digits, - or _, a letter first'))
    }
    const parsed = schemaOf(value).safeParse(value)
    if (parsed.success) entries.push({ name, path, parts: parsed.data })
    else problems.push(...listIssues(path, parsed.error.issues))
  }
  return { entries, problems }
}

/** zod's issues as problems. */
export function listIssues(base: string, issues: readonly z.core.$ZodIssue[]): readonly ConfigProblem[] {
  return issues.map(({ path, message }) => error(formatPath(base, path), message))
}

/** Names that a section does not know, with the nearest known one. */
export function listUnknownNames(base: string, given: object, known: readonly string[]): readonly ConfigProblem[] {
  return Object.keys(given)
    .filter((name) => !known.includes(name))
    .map((name) => error(formatPath(base, [name]), `"${name}" is not known here${suggestName(name, known)}`))
}
