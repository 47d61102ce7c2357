import { parseRetryAfter } from '../attempt/parse-retry-after.js'
import type { Sent } from '../attempt/sent.js'
import { readPointer } from '../intake/json-pointer.js'
import { fillTemplate } from './fill-template.js'
import { type Found, stillUnknown } from './finding.js'
import type { LookupContract, LookupRule, LookupTest, LookupValues } from './lookup-contract.js'

type Answered = Extract<Sent, { kind: 'answered' }>

const MAX_RETRY_AFTER_MS = 24 * 3_600_000

/**
 * What an answer to a lookup says. The first rule that applies decides; without one, or without an answer, it is still
 * unknown. An answer that can't be read decides nothing: a rule about its body is never passed over for a later one.
 *
 * @param now the database's time, epoch ms
 */
export function judgeLookup(
  sent: Sent,
  contract: Pick<LookupContract, 'rules'>,
  values: LookupValues,
  now: number,
): Found {
  const { durationMs } = sent
  if (sent.kind === 'failed') return stillUnknown(sent.code, { detail: sent.message, durationMs })
  const { status } = sent
  const facts = { status, durationMs, retryAfterMs: readRetryAfter(sent, now) }
  const document = readDocument(sent)
  for (const rule of contract.rules) {
    if (!coversStatus(rule, status)) continue
    if (rule.pointer === null) return found(rule, facts)
    if (document === undefined) return stillUnknown('unreadable_answer', facts)
    if (passes(rule.test, readPointer(document.value, rule.pointer), values)) return found(rule, facts)
  }
  return stillUnknown(status === 401 || status === 403 ? 'unauthorised' : 'no_rule_applies', facts)
}

function found(rule: LookupRule, facts: Pick<Found, 'status' | 'durationMs' | 'retryAfterMs'>): Found {
  const cause = rule.finding === 'still_unknown' ? 'by_rule' : null
  return { finding: rule.finding, detail: null, ...facts, cause }
}

function coversStatus({ statuses }: LookupRule, status: number): boolean {
  return statuses.length === 0 || statuses.some(([from, to]) => status >= from && status <= to)
}

/** A whole document or none: what was cut or lost may have held the very thing that is missing. */
function readDocument({ body, bodyTruncated }: Answered): { readonly value: unknown } | undefined {
  if (body === null || bodyTruncated) return undefined
  try {
    return { value: JSON.parse(body.toString('utf8')) as unknown }
  } catch {
    return undefined
  }
}

function passes(test: LookupTest, value: unknown, values: LookupValues): boolean {
  switch (test.kind) {
    case 'exists':
      return value !== undefined && value !== null
    case 'absent':
      return value === undefined || value === null
    case 'empty':
      return sizeOf(value) === 0
    case 'not_empty':
      return (sizeOf(value) ?? 0) > 0
    case 'equals':
      return value === expected(test.value, values)
  }
}

/** `null` where there is nothing that can be empty. */
function sizeOf(value: unknown): number | null {
  if (typeof value === 'string' || Array.isArray(value)) return value.length
  return typeof value === 'object' && value !== null ? Object.keys(value).length : null
}

/** A value that is not on record equals nothing. */
function expected(value: string | number | boolean | null, values: LookupValues): unknown {
  if (typeof value !== 'string') return value
  const filled = fillTemplate(value, values, (text) => text)
  return filled.kind === 'filled' ? filled.text : undefined
}

function readRetryAfter(sent: Answered, now: number): number | null {
  if (sent.status !== 429 && sent.status !== 503) return null
  const headers = { retryAfter: sent.headers['retry-after'], date: sent.headers.date }
  return parseRetryAfter(headers, now, MAX_RETRY_AFTER_MS)
}
