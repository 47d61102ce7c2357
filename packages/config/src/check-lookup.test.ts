import { describe, expect, test } from 'vitest'
import {
  type ConfigProblem,
  type DestinationDefinition,
  defineConfig,
  type LookupDefinition,
  resolveConfig,
} from './index.js'

const LOOKUP: LookupDefinition = {
  url: '/messages?key={key}',
  rules: [
    { status: 200, pointer: '/0', finding: 'took_effect' },
    { status: [404, 410], finding: 'did_not' },
  ],
}

function resolve(change: Partial<DestinationDefinition>) {
  const crm: DestinationDefinition = {
    url: 'https://crm.example/updates?token=x',
    idempotency: 'none',
    reviewWindow: '4h',
    lookup: LOOKUP,
    ...change,
  }
  const definition = defineConfig({ sources: {}, destinations: { crm } })
  return resolveConfig(definition, { env: {}, baseDir: '/nowhere', now: 0 })
}

const problems = (lookup: Record<string, unknown>): readonly ConfigProblem[] =>
  resolve({ lookup: { ...LOOKUP, ...lookup } as LookupDefinition }).problems

describe('a lookup', () => {
  test('resolves with its defaults', () => {
    const loaded = resolve({})
    if (loaded.kind === 'invalid') throw new Error(JSON.stringify(loaded.problems))
    expect(loaded.problems).toEqual([])
    expect(loaded.config.destinations.get('crm')).toMatchObject({
      reviewWindowMs: 14_400_000,
      lookup: {
        method: 'GET',
        target: '/messages?key={key}',
        rules: [
          { statuses: [[200, 200]], pointer: '/0', test: { kind: 'exists' }, finding: 'took_effect' },
          {
            statuses: [
              [404, 404],
              [410, 410],
            ],
            pointer: null,
            finding: 'did_not',
          },
        ],
        graceMs: 30_000,
        maxProbes: 10,
        concurrency: 2,
        didNot: 'resend',
      },
    })
    expect(JSON.stringify(loaded.config.describe())).not.toContain('{key}')
  })

  test('may be named by a URL on its own origin', () => {
    expect(problems({ url: 'https://crm.example/messages/{key}' })).toEqual([])
  })

  test.each<[string, Record<string, unknown>, string, RegExp]>([
    ['another host', { url: 'https://other.example/x' }, 'url', /credentials would travel/],
    ['a look-alike host', { url: 'https://crm.example@other.example/x' }, 'url', /credentials would travel/],
    ['a placeholder in the host', { url: 'https://{key}/x' }, 'url', /placeholder in its host/],
    ['an unknown placeholder', { url: '/x?id={deliveryid}' }, 'url', /is no placeholder \(did you mean "delivery_id"/],
    ['a POST that may change something', { method: 'POST' }, 'method', /must never change anything/],
    ['a body for GET', { body: { key: '{key}' } }, 'body', /needs method/],
    ['an unknown placeholder in a search', { method: 'POST', search: true, body: ['{kee}'] }, 'body', /no placeholder/],
    ['another method', { method: 'DELETE' }, 'method', /must be one of GET, POST/],
    ['no rule', { rules: [] }, 'rules', /nothing would ever be found out/],
    ['rules that find nothing out', { rules: [{ status: 200, finding: 'still_unknown' }] }, 'rules', /never find/],
    ['a rule for everything', { rules: [{ finding: 'did_not' }] }, 'rules[0]', /neither status nor pointer/],
    ['two tests', { rules: [{ pointer: '/a', equals: 1, empty: true, finding: 'did_not' }] }, 'rules[0]', /two rules/],
    ['a test of nothing', { rules: [{ status: 200, equals: 1, finding: 'did_not' }] }, 'rules[0]', /no pointer/],
    ['refused credentials as a no', { rules: [{ status: 401, finding: 'did_not' }] }, 'rules[0].status', /say nothing/],
    ['a whole class with them', { rules: [{ status: '4xx', finding: 'did_not' }] }, 'rules[0].status', /say nothing/],
    ['a server error as a no', { rules: [{ status: '5xx', finding: 'did_not' }] }, 'rules[0].status', /say nothing/],
    ['a status that is none', { rules: [{ status: 99, finding: 'did_not' }] }, 'rules[0].status', /must be a status/],
    ['a gap above its cap', { first: '2h' }, 'first', /longer than lookup.cap/],
  ])('is refused with %s', (_what, lookup, at, message) => {
    expect(problems(lookup)).toContainEqual({
      severity: 'error',
      path: `destinations.crm.lookup.${at}`,
      message: expect.stringMatching(message),
    })
  })
})

test('config check demands a review window, and no process refuses to start without it', () => {
  const { reviewWindow: _left, ...rest } = { url: 'https://crm.example', idempotency: 'none' as const, reviewWindow: 0 }
  const loaded = resolveConfig(defineConfig({ sources: {}, destinations: { crm: rest } }), {
    env: {},
    baseDir: '/nowhere',
    now: 0,
  })
  expect(loaded.kind).toBe('loaded')
  expect(loaded.problems).toEqual([
    {
      severity: 'warning',
      demanded: true,
      path: 'destinations.crm.reviewWindow',
      message: expect.stringContaining("such as '4h'"),
    },
  ])
})
