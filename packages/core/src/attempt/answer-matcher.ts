import { readPointer } from '../intake/json-pointer.js'
import { parseJson } from '../intake/parse-json.js'
import type { Sent } from './sent.js'
import { coversStatus, type StatusRange, type StatusVerdict } from './status-classes.js'

/** What a value must be. Header values are compared without case and outer white space, values of a body exactly. */
export type ValueTest =
  | { readonly kind: 'exists' }
  | { readonly kind: 'absent' }
  | { readonly kind: 'one_of'; readonly values: readonly (string | number | boolean | null)[] }

/** One thing that a vendor's answer means. All that is given has to hold; the first matcher of a list decides. */
export type AnswerMatcher = {
  /** Empty: any status. */
  readonly statuses: readonly StatusRange[]
  readonly headers: readonly { readonly header: string; readonly test: ValueTest }[]
  readonly body: readonly { readonly pointer: string; readonly test: ValueTest }[]
  readonly verdict: StatusVerdict
}

type Answered = Extract<Sent, { kind: 'answered' }>
export type MatchResult =
  | { readonly kind: 'matched'; readonly verdict: StatusVerdict }
  | { readonly kind: 'none' }
  /** A matcher had to read a body that was lost or cut off: whether it would have matched can't be known. */
  | { readonly kind: 'unreadable' }

/**
 * The first matcher that holds. The body is parsed only when a matcher gets as far as asking for it, once, and within
 * the response cap; what is no JSON has no values, and never throws.
 */
export function matchAnswer(sent: Answered, matchers: readonly AnswerMatcher[]): MatchResult {
  let document: { readonly value: unknown } | null = null
  for (const matcher of matchers) {
    if (!holdsBeforeBody(matcher, sent)) continue
    if (matcher.body.length > 0) {
      if (sent.body === null || sent.bodyTruncated) return { kind: 'unreadable' }
      document ??= { value: readDocument(sent.body) }
      const { value } = document
      if (!matcher.body.every(({ pointer, test }) => passes(test, readPointer(value, pointer), false))) continue
    }
    return { kind: 'matched', verdict: matcher.verdict }
  }
  return { kind: 'none' }
}

function holdsBeforeBody({ statuses, headers }: AnswerMatcher, sent: Answered): boolean {
  if (statuses.length > 0 && !statuses.some((range) => coversStatus(range, sent.status))) return false
  return headers.every(({ header, test }) => passes(test, readAnswerHeader(sent.headers, header), true))
}

/** A header of an answer by its lower-case name; never something inherited. */
export function readAnswerHeader(headers: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(headers, name) ? headers[name] : undefined
}

function readDocument(body: Buffer): unknown {
  const parsed = parseJson(body)
  return parsed.kind === 'parsed' ? parsed.value : undefined
}

function passes(test: ValueTest, found: unknown, isHeader: boolean): boolean {
  switch (test.kind) {
    case 'exists':
      return found !== undefined
    case 'absent':
      return found === undefined
    case 'one_of':
      return test.values.some((value) => (isHeader ? sameText(value, found) : value === found))
  }
}

function sameText(wanted: string | number | boolean | null, found: unknown): boolean {
  return typeof found === 'string' && found.trim().toLowerCase() === String(wanted).trim().toLowerCase()
}
