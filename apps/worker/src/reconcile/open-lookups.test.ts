import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { LookupContract } from '@counterfoil/core'
import type { AskedLookup } from '@counterfoil/db'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { makeContract } from '../testing/make-entry.js'
import { type Lookups, openLookups } from './open-lookups.js'

type Seen = { method: string; url: string; body: string; headers: IncomingMessage['headers'] }

let server: Server
let origin: string
let answer: { status: number; body: string; location?: string }
const seen: Seen[] = []
const opened: Lookups[] = []

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const body = await text(request)
    seen.push({ method: request.method ?? '', url: request.url ?? '', body, headers: request.headers })
    const headers = answer.location === undefined ? {} : { location: answer.location }
    response.writeHead(answer.status, headers).end(answer.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => new Promise((resolve) => server.close(resolve)))
afterEach(async () => {
  seen.length = 0
  await Promise.all(opened.splice(0).map((one) => one.close()))
})

const LOOKUP: LookupContract = {
  method: 'GET',
  target: '/messages?key={key}',
  body: null,
  rules: [{ statuses: [[200, 200]], pointer: '/found', test: { kind: 'exists' }, finding: 'took_effect' }],
  graceMs: 0,
  firstMs: 1,
  capMs: 1,
  maxProbes: 1,
  concurrency: 1,
  didNot: 'resend',
}

function ask(lookup: Partial<LookupContract> = {}, contract: Parameters<typeof makeContract>[0] = {}) {
  const made = makeContract({
    url: `${origin}/actions?source=test`,
    headers: { authorization: 'Bearer demo' },
    ...contract,
  })
  const lookups = openLookups({ ...made, lookup: { ...LOOKUP, ...lookup } })
  opened.push(lookups)
  const entry = randomUUID()
  const asked: AskedLookup = {
    entry,
    number: 1,
    token: randomUUID(),
    destination: 'crm',
    delivery: randomUUID(),
    askedAt: Date.now(),
    heldAt: Date.now(),
    values: {
      entry,
      key: 'ticket/1',
      source: 'tickets',
      deliveryId: 'd-1',
      attempt: 1,
      firstAttemptAt: null,
      lastAttemptAt: null,
      references: [],
    },
  }
  return lookups.ask(asked)
}

describe('a lookup', () => {
  test("asks with the destination's headers and without its key", async () => {
    answer = { status: 200, body: '{"found":true}' }
    expect(await ask()).toMatchObject({ finding: 'took_effect', status: 200 })
    expect(seen).toMatchObject([
      { method: 'GET', url: '/messages?key=ticket%2F1', body: '', headers: { authorization: 'Bearer demo' } },
    ])
    expect(seen[0]?.headers['idempotency-key']).toBeUndefined()
  })

  test("proves who asks with the destination's credentials, under an id that is not the action's", async () => {
    answer = { status: 200, body: '{"found":true}' }
    await ask({}, { headers: {}, auth: { kind: 'bearer', token: () => Buffer.from('demo-token') } })
    await ask({}, { headers: {}, auth: { kind: 'standard_webhooks', keys: [() => Buffer.from('demo-key')] } })
    expect(seen[0]?.headers.authorization).toBe('Bearer demo-token')
    expect(seen[1]?.headers['webhook-signature']).toMatch(/^v1,/)
    expect(seen[1]?.headers['webhook-id']).not.toBe('ticket/1')
  })

  test('searches by POST where that is declared', async () => {
    answer = { status: 200, body: '{"found":1}' }
    const search = { method: 'POST', target: '/search', body: { query: { key: '{key}' } } } as const
    expect(await ask(search)).toMatchObject({ finding: 'took_effect' })
    expect(seen).toMatchObject([{ method: 'POST', url: '/search', body: '{"query":{"key":"ticket/1"}}' }])
    expect(seen[0]?.headers['content-type']).toBe('application/json')
  })

  test('goes nowhere that a send may not go', async () => {
    const found = await ask({}, { allowPrivate: false })
    expect(found).toMatchObject({ finding: 'still_unknown', cause: 'ERR_COUNTERFOIL_EGRESS' })
    expect(seen).toEqual([])
  })

  test('follows no redirect', async () => {
    answer = { status: 302, body: '', location: `${origin}/elsewhere` }
    expect(await ask()).toMatchObject({ finding: 'still_unknown', status: 302 })
    expect(seen).toHaveLength(1)
  })

  test('I6: believes no answer that is longer than the response cap', async () => {
    answer = { status: 200, body: JSON.stringify({ padding: 'x'.repeat(2_000), found: true }) }
    const rules = [...LOOKUP.rules, { ...LOOKUP.rules[0], test: { kind: 'absent' }, finding: 'did_not' }]
    const found = await ask({ rules: rules as LookupContract['rules'] })
    expect(found).toMatchObject({ finding: 'still_unknown', cause: 'unreadable_answer' })
  })

  test('sends nothing where a value is not on record', async () => {
    const found = await ask({ target: '/messages?ticket={reference.ticket}' })
    expect(found).toMatchObject({ finding: 'still_unknown', cause: 'unbuildable', status: null })
    expect(seen).toEqual([])
  })
})
