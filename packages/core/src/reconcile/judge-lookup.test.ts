import { describe, expect, it } from 'vitest'
import type { Sent } from '../attempt/sent.js'
import { buildLookup } from './build-lookup.js'
import { judgeLookup } from './judge-lookup.js'
import type { LookupContract, LookupRule, LookupValues } from './lookup-contract.js'

const VALUES: LookupValues = {
  entry: '01930000-0000-7000-8000-00000000000e',
  key: 'ticket-4821:reply/3',
  source: 'tickets',
  deliveryId: 'd 1',
  attempt: 2,
  firstAttemptAt: Date.UTC(2026, 10, 29, 14, 0, 0),
  lastAttemptAt: null,
  references: [
    ['ticket', 'ticket-4821'],
    ['email', 'a@example.test'],
    ['email', 'b@example.test'],
  ],
}

const CONTRACT: LookupContract = {
  method: 'GET',
  target: '/messages/{key}?id={delivery_id}&since={first_attempt_at}',
  body: null,
  rules: [],
  graceMs: 30_000,
  firstMs: 60_000,
  capMs: 3_600_000,
  maxProbes: 10,
  concurrency: 2,
  didNot: 'resend',
}

describe('buildLookup', () => {
  it('keeps each value in its place, percent-encoded', () => {
    expect(buildLookup(CONTRACT, VALUES)).toEqual({
      kind: 'request',
      method: 'GET',
      path: '/messages/ticket-4821%3Areply%2F3?id=d%201&since=2026-11-29T14%3A00%3A00.000Z',
      body: null,
    })
  })

  it('fills the texts of a search as they are, so that nothing but a text can come of a value', () => {
    const body = { where: { key: '{key}', all: ['{reference.ticket}', 1, null, true] } }
    const request = buildLookup(
      { ...CONTRACT, method: 'POST', target: '/search', body },
      { ...VALUES, key: '"},{"x":"' },
    )
    if (request.kind !== 'request') throw new Error(request.why)
    expect(JSON.parse(request.body?.toString() ?? '')).toEqual({
      where: { key: '"},{"x":"', all: ['ticket-4821', 1, null, true] },
    })
  })

  it.each(['.', '..', '%2e', '.%2E'])('refuses the dot segment %s, which servers resolve even when encoded', (key) => {
    const target = key.includes('%') ? `/messages/${key}` : '/messages/{key}'
    expect(buildLookup({ ...CONTRACT, target }, { ...VALUES, key })).toMatchObject({ kind: 'unbuildable' })
  })

  it.each(['reference.email', 'reference.none', 'last_attempt_at'])('does not guess %s', (name) => {
    const request = buildLookup({ ...CONTRACT, target: `/x?v={${name}}` }, VALUES)
    expect(request).toEqual({ kind: 'unbuildable', why: `there is no single value on record for {${name}}` })
  })
})

const RULES: readonly LookupRule[] = [
  { statuses: [[200, 200]], pointer: '/items/0/key', test: { kind: 'equals', value: '{key}' }, finding: 'took_effect' },
  { statuses: [[200, 200]], pointer: '/items', test: { kind: 'empty' }, finding: 'did_not' },
  { statuses: [[404, 404]], pointer: null, test: { kind: 'exists' }, finding: 'did_not' },
]

function answered(status: number, body: string | null, more: Partial<Extract<Sent, { kind: 'answered' }>> = {}): Sent {
  const bytes = body === null ? null : Buffer.from(body)
  return { kind: 'answered', status, headers: {}, body: bytes, bodyTruncated: false, durationMs: 5, ...more }
}

const judge = (sent: Sent, rules = RULES) => judgeLookup(sent, { rules }, VALUES, 0)

describe('judgeLookup', () => {
  it('lets the first rule that applies decide', () => {
    expect(judge(answered(200, '{"items":[{"key":"ticket-4821:reply/3"}]}'))).toMatchObject({ finding: 'took_effect' })
    expect(judge(answered(200, '{"items":[]}'))).toMatchObject({ finding: 'did_not', status: 200, cause: null })
    expect(judge(answered(404, null))).toMatchObject({ finding: 'did_not' })
  })

  it.each([
    ['another key', answered(200, '{"items":[{"key":"other"}]}'), 'no_rule_applies'],
    ['nothing at the pointer', answered(200, '{}'), 'no_rule_applies'],
    ['a refusal of the question', answered(401, '{}'), 'unauthorised'],
    ['a server error', answered(500, '{"items":[]}'), 'no_rule_applies'],
    ['no JSON', answered(200, '<html>'), 'unreadable_answer'],
    ['a body that was lost', answered(200, null), 'unreadable_answer'],
    ['a body that was cut', answered(200, '{"items":[]}', { bodyTruncated: true }), 'unreadable_answer'],
  ])('I6: %s is still unknown', (_what, sent, cause) => {
    expect(judge(sent)).toMatchObject({ finding: 'still_unknown', cause })
  })

  it('I6: never passes over a rule about an unreadable body for a later one', () => {
    const rules: readonly LookupRule[] = [
      { statuses: [], pointer: '/found', test: { kind: 'exists' }, finding: 'took_effect' },
      { statuses: [], pointer: null, test: { kind: 'exists' }, finding: 'did_not' },
    ]
    expect(judge(answered(200, '{"found":'), rules)).toMatchObject({ finding: 'still_unknown' })
    expect(judge(answered(200, '{"found":null}'), rules)).toMatchObject({ finding: 'did_not' })
  })

  it('I6: a question without an answer is still unknown, whatever failed', () => {
    const failed: Sent = {
      kind: 'failed',
      code: 'ECONNREFUSED',
      message: 'connect ECONNREFUSED',
      headersHandedOver: false,
      step: 'connect',
      durationMs: 1,
    }
    expect(judge(failed)).toMatchObject({ finding: 'still_unknown', cause: 'ECONNREFUSED', status: null })
  })

  it('takes along how long a shedding destination wants to be left alone', () => {
    expect(judge(answered(503, null, { headers: { 'retry-after': '120' } }))).toMatchObject({ retryAfterMs: 120_000 })
  })
})
