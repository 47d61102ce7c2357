import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigurationBug, type SourceEvent } from '@counterfoil/core'
import { afterEach, beforeEach, describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { type ConfigDefinition, type DestinationDefinition, defineConfig, type SourceDefinition } from './definition.js'
import type { ConfigProblem } from './problem.js'
import { resolveConfig } from './resolve-config.js'
import type { ResolvedConfig } from './resolved-config.js'
import { route } from './route.js'
import { hmacBody, hmacTimestamped } from './schemes.js'
import { secret } from './secret.js'
import { conditionalUpdate, customTransition } from './transitions.js'

const NOW = Date.parse('2026-01-01T00:00:00Z')
const ENV = {
  TICKETS_SECRET: 'tickets secret of the tests 0001',
  CRM_TOKEN: 'crm token of the tests 000000002',
  ANA_TOKEN: 'ana token of the tests 000000003',
}
const HOUR = 3_600_000
const event: SourceEvent = {
  source: 'tickets',
  deliveryId: 'd',
  type: 't',
  payload: null,
  envelope: null,
  exactText: () => null,
}

const expire = conditionalUpdate({
  name: 'expire-hold',
  table: 'shop.reservation',
  from: 'held',
  to: 'expired',
  dueAtColumn: 'expires_at',
  actions: (subject) => [{ destination: 'crm', idempotencyKey: `expire:${subject}`, body: {} }],
})

function source(changes: Partial<SourceDefinition> = {}): SourceDefinition {
  return {
    path: '/push/tickets',
    verify: hmacTimestamped({ signatureHeader: 'X-Signature', timestampHeader: 'X-Timestamp' }),
    keys: [{ id: 'k1', secret: secret.env('TICKETS_SECRET') }],
    deliveryId: { pointer: '/id' },
    redeliveryHorizon: '3d',
    ack: { senderTimeout: '10s' },
    routes: {},
    ...changes,
  }
}

function destination(changes: Partial<DestinationDefinition> = {}): DestinationDefinition {
  return {
    url: 'https://crm.example/updates',
    idempotency: { header: 'Idempotency-Key', lifetime: '24h' },
    reviewWindow: '4h',
    ...changes,
  }
}

function config(changes: Partial<ConfigDefinition> = {}): ConfigDefinition {
  return defineConfig({ sources: { tickets: source() }, destinations: { crm: destination() }, ...changes })
}

function resolve(definition: unknown, env: Record<string, string> = ENV, baseDir = '/nowhere') {
  return resolveConfig(definition, { env, baseDir, now: NOW })
}

function load(definition: unknown, env: Record<string, string> = ENV, baseDir = '/nowhere'): ResolvedConfig {
  const result = resolve(definition, env, baseDir)
  if (result.kind === 'invalid') throw new Error(JSON.stringify(result.problems))
  return result.config
}

function problems(definition: unknown, env: Record<string, string> = ENV): readonly ConfigProblem[] {
  return resolve(definition, env).problems
}

const withSource = (changes: object) => config({ sources: { tickets: { ...source(), ...changes } } })
const withDestination = (changes: object) => config({ destinations: { crm: { ...destination(), ...changes } } })

describe('a small configuration', () => {
  test('is loaded with every default in place', () => {
    const { sources, destinations } = load(config())
    expect(sources.get('tickets')).toMatchObject({
      path: '/push/tickets',
      bodyLimitBytes: 262_144,
      redeliveryHorizonMs: 72 * HOUR,
      ack: { status: 204, deadlineMs: 2_500, senderTimeoutMs: 10_000, onConflict: 'accept', onMalformed: 'refuse_400' },
      deliveryId: { kind: 'pointer', pointer: '/id' },
      eventType: null,
      otherwise: null,
    })
    expect(destinations.get('crm')).toMatchObject({
      method: 'POST',
      idempotency: {
        kind: 'header',
        header: 'idempotency-key',
        quoted: false,
        lifetimeMs: 24 * HOUR,
        marginMs: 600_000,
      },
      timeouts: { connectMs: 5_000, headersMs: 10_000, bodyMs: 10_000, totalMs: 25_000 },
      leaseMs: 40_000,
      concurrency: 16,
      allowPrivate: false,
      retry: { firstMs: 5_000, capMs: HOUR, maxAttempts: 12 },
    })
  })

  test('parts of a timeout that nobody gave are cut to a short total', () => {
    const { destinations } = load(withDestination({ timeouts: { total: '3s' } }))
    expect(destinations.get('crm')?.timeouts).toEqual({
      connectMs: 3_000,
      headersMs: 3_000,
      bodyMs: 3_000,
      totalMs: 3_000,
    })
  })

  test('a secret in a header is put together where it is used', () => {
    const headers = { authorization: secret.env('CRM_TOKEN', { prefix: 'Bearer ' }), 'X-Plain': 'yes' }
    const { destinations } = load(withDestination({ headers }))
    expect(destinations.get('crm')?.headers).toEqual({ authorization: `Bearer ${ENV.CRM_TOKEN}`, 'x-plain': 'yes' })
  })
})

describe('route', () => {
  test('the payload has the type of its schema, and is unknown without one', () => {
    route({
      schema: z.object({ ticket: z.string() }),
      actions: (event) => {
        expectTypeOf(event).toEqualTypeOf<SourceEvent<{ ticket: string }>>()
        return []
      },
    })
    route({
      actions: (event) => {
        expectTypeOf(event.payload).toBeUnknown()
        return []
      },
    })
  })

  test('a schema failure says where and what, never which value', () => {
    const schema = z.object({ email: z.email(), tags: z.record(z.string(), z.number()) })
    const contract = load(withSource({ routes: { t: route({ schema }) } })).sources.get('tickets')
    const parsed = contract?.routes.get('t')?.parse?.({ email: 'ana at example', tags: { 'ana@example.com': 'x' } })
    expect(parsed).toEqual({ ok: false, message: '/email invalid_format; /tags/* invalid_type (expected number)' })
  })

  test('references are read from a plain object; missing ones are left out', () => {
    const references = () => ({ ticket: 't-1', mail: { value: 'a@b.c', personal: true }, none: undefined, n: 7 })
    const contract = load(withSource({ routes: { t: route({ references }) } })).sources.get('tickets')
    expect(contract?.routes.get('t')?.references(event)).toEqual([
      { name: 'ticket', value: 't-1', personal: false },
      { name: 'mail', value: 'a@b.c', personal: true },
      { name: 'n', value: '7', personal: false },
    ])
  })

  test('an action for an undeclared destination is our own bug, with the nearest name', () => {
    const actions = () => [{ destination: 'crn', idempotencyKey: 'k', body: {} }]
    const { sources } = load(withSource({ routes: { t: route({ actions }) } }))
    const run = () => sources.get('tickets')?.routes.get('t')?.actions(event)
    expect(run).toThrow(ConfigurationBug)
    expect(run).toThrow(/"crn".*did you mean "crm"/)
  })
})

describe('transitions', () => {
  const expiring = route({
    transition: { use: expire, subject: () => 'r1', guard: () => '2026-01-01T00:00:00Z', notDue: 'defer' },
  })

  test('are collected from routes and from the list, once each', () => {
    const other = customTransition({ name: 'other', apply: async () => ({ outcome: 'applied' }) })
    const loaded = load({ ...withSource({ routes: { a: expiring, b: expiring } }), transitions: [other, expire] })
    expect([...loaded.transitions.keys()]).toEqual(['expire-hold', 'other'])
    const used = loaded.sources.get('tickets')?.routes.get('a')?.transition?.use
    expect(used).toBe(loaded.transitions.get('expire-hold'))
    expect(used).toMatchObject({
      idColumn: 'id',
      stateColumn: 'status',
      sweep: { everyMs: 60_000, graceMs: 60_000, batch: 500 },
    })
  })

  test('their actions are checked for unknown destinations, too', async () => {
    const stray = { destination: 'nobody', idempotencyKey: 'k', body: {} }
    const custom = customTransition({ name: 'custom', apply: async () => ({ outcome: 'applied', actions: [stray] }) })
    const { transitions } = load({ ...config(), transitions: [{ ...expire, actions: () => [stray] }, custom] })
    const update = transitions.get('expire-hold')
    expect(() => update?.kind === 'conditional_update' && update.actions('r1', {})).toThrow(ConfigurationBug)
    const own = transitions.get('custom')
    const delivery = { source: 'tickets', deliveryId: 'd', payload: null }
    await expect(own?.kind === 'custom' && own.apply(null, delivery)).rejects.toThrow(ConfigurationBug)
  })

  test('two of one name are an error', () => {
    const definition = { ...withSource({ routes: { a: expiring } }), transitions: [{ ...expire }] }
    expect(problems(definition)).toContainEqual(
      expect.objectContaining({
        severity: 'error',
        path: 'transitions[0]',
        message: expect.stringContaining('expire-hold'),
      }),
    )
  })

  test.each([
    [{ table: 'a; drop table b' }, 'table'],
    [{ idColumn: 'id"' }, 'idColumn'],
    [{ to: 'held' }, 'to'],
    [{ sweep: { everyMs: Number.NaN, graceMs: 1, batch: 1 } }, 'sweep'],
  ])('%j is refused', (changes, field) => {
    const found = problems({ ...config(), transitions: [{ ...expire, ...changes }] })
    expect(found).toContainEqual(
      expect.objectContaining({ severity: 'error', path: expect.stringContaining(`transitions[0].${field}`) }),
    )
  })
})

describe('problems', () => {
  test('all of them are told at once, each with its place', () => {
    const found = problems({
      sourcse: {},
      sources: {
        tickets: { ...source({ redeliveryHorizon: '3 days' as '3d' }), bodylimit: 5 },
        other: source({ keys: [{ id: 'k1', secret: secret.env('MISSING') }] }),
      },
      destinations: { crm: { ...destination(), retry: { maxAttempt: 3 } } },
      operators: { ana: { token: 'plain text' } },
    })
    const paths = found.filter(({ severity }) => severity === 'error').map(({ path }) => path)
    expect(paths.sort()).toEqual([
      'destinations.crm.retry',
      'operators.ana.token',
      'sources.other.keys[0].secret (key "k1")',
      'sources.tickets',
      'sources.tickets.redeliveryHorizon',
      'sourcse',
    ])
    const messages = found.map(({ message }) => message).join('\n')
    expect(messages).toContain('did you mean "sources"?')
    expect(messages).toContain('did you mean "bodyLimit"?')
    expect(messages).toContain('did you mean "maxAttempts"?')
    expect(messages).toContain("secret.env('NAME')")
  })

  test('the path of a route reads as it was written', () => {
    const broken = route({ transition: { use: expire, subject: () => '', notDue: 'later' as 'defer' } })
    expect(problems(withSource({ routes: { 'ticket.updated': broken } }))).toContainEqual(
      expect.objectContaining({ path: 'sources.tickets.routes["ticket.updated"].transition.notDue' }),
    )
    expect(problems(withSource({ routes: { t: {} } }))).toContainEqual(
      expect.objectContaining({ path: 'sources.tickets.routes.t', message: expect.stringContaining('route({ … })') }),
    )
  })

  test.each([
    ['not an object', 42, ''],
    ['null', null, ''],
    ['a list', [], ''],
    ['no sources', { destinations: {} }, 'sources'],
    ['no destinations', { sources: {} }, 'destinations'],
  ])('%s is one clear problem', (_name, definition, path) => {
    expect(problems(definition)).toContainEqual(expect.objectContaining({ severity: 'error', path }))
  })

  test.each<[string, object, string]>([
    ['a source without a stable id', { deliveryId: undefined }, 'sources.tickets.deliveryId'],
    ['no key', { keys: [] }, 'sources.tickets.keys'],
    ['a path with a query', { path: '/a?b=1' }, 'sources.tickets.path'],
    [
      'an ack deadline as long as the sender waits',
      { ack: { senderTimeout: '10s', deadline: '10s' } },
      'sources.tickets.ack.deadline',
    ],
    ['the default deadline for an impatient sender', { ack: { senderTimeout: '2s' } }, 'sources.tickets.ack.deadline'],
    ['a body with 204', { ack: { senderTimeout: '10s', status: 204, body: () => ({}) } }, 'sources.tickets.ack.status'],
    ['status 410', { ack: { senderTimeout: '10s', status: 410 } }, 'sources.tickets.ack.status'],
    ['a pointer without a slash', { volatile: ['attempt'] }, 'sources.tickets.volatile[0]'],
    [
      'a header name with a space',
      { verify: hmacBody({ signatureHeader: 'x y' }) },
      'sources.tickets.verify.signatureHeader',
    ],
    ['a horizon inside the replay window', { redeliveryHorizon: '5m' }, 'sources.tickets.redeliveryHorizon'],
    ['a body limit of nothing', { bodyLimit: 0 }, 'sources.tickets.bodyLimit'],
    [
      'a key window that ends before it begins',
      {
        keys: [
          {
            id: 'k',
            secret: secret.env('TICKETS_SECRET'),
            notBefore: '2026-02-01T00:00:00Z',
            notAfter: '2026-01-01T00:00:00Z',
          },
        ],
      },
      'sources.tickets.keys[0].notAfter',
    ],
    [
      'one id for two keys',
      {
        keys: [
          { id: 'k', secret: secret.env('TICKETS_SECRET') },
          { id: 'k', secret: secret.env('CRM_TOKEN') },
        ],
      },
      'sources.tickets.keys[1].id',
    ],
  ])('source: %s is an error', (_name, changes, path) => {
    expect(problems(withSource(changes))).toContainEqual(expect.objectContaining({ severity: 'error', path }))
  })

  test.each<[string, object, string]>([
    ['a lease not longer than total and margin', { lease: '30s' }, 'destinations.crm.lease'],
    [
      'parts that outlast the total',
      { timeouts: { headers: '20s', body: '20s', total: '30s' } },
      'destinations.crm.timeouts.total',
    ],
    [
      'a key that lives no longer than its margin',
      { idempotency: { header: 'k', lifetime: '10m' } },
      'destinations.crm.idempotency.lifetime',
    ],
    [
      'a fixed value in the key’s header',
      { headers: { 'idempotency-key': 'x' } },
      'destinations.crm.headers.idempotency-key',
    ],
    ['a credential as text', { headers: { Authorization: 'Bearer abc' } }, 'destinations.crm.headers.authorization'],
    ['a content length', { headers: { 'Content-Length': '3' } }, 'destinations.crm.headers.content-length'],
    ['a line break in a header', { headers: { x: 'a\r\nb' } }, 'destinations.crm.headers.x'],
    ['credentials in the URL', { url: 'https://a:b@crm.example' }, 'destinations.crm.url'],
    ['an ftp URL', { url: 'ftp://crm.example' }, 'destinations.crm.url'],
    ['no word on idempotency', { idempotency: undefined }, 'destinations.crm.idempotency'],
    [
      'an idempotency header without a lifetime',
      { idempotency: { header: 'k' } },
      'destinations.crm.idempotency.lifetime',
    ],
    ['a first retry after the cap', { retry: { first: '2h' } }, 'destinations.crm.retry.first'],
  ])('destination: %s is an error', (_name, changes, path) => {
    expect(problems(withDestination(changes))).toContainEqual(expect.objectContaining({ severity: 'error', path }))
  })

  test('a source must not take the name of the sweep', () => {
    expect(problems(config({ sources: { sweep: source() } }))).toContainEqual(
      expect.objectContaining({ severity: 'error', path: 'sources.sweep' }),
    )
  })

  test('two sources on one path are an error', () => {
    expect(problems(config({ sources: { a: source(), b: source() } }))).toContainEqual(
      expect.objectContaining({ severity: 'error', path: 'sources.b.path' }),
    )
  })

  test('an operator approves nothing unless it says so', () => {
    const operators = {
      ana: { token: secret.env('ANA_TOKEN') },
      bo: { token: secret.env('CRM_TOKEN'), approver: true },
    }
    expect(load({ ...config({}), operators }).operators.get('ana')?.approver).toBe(false)
    expect(load({ ...config({}), operators }).operators.get('bo')?.approver).toBe(true)
  })

  test('one token for two operators is an error', () => {
    const operators = { ana: { token: secret.env('ANA_TOKEN') }, bo: { token: secret.env('ANA_TOKEN') } }
    expect(problems(config({ operators }))).toContainEqual(expect.objectContaining({ path: 'operators.bo.token' }))
  })
})

describe('warnings say the consequence', () => {
  const warnings = (definition: unknown) => {
    const result = resolve(definition)
    expect(result.kind).toBe('loaded')
    return result.problems.map(({ message }) => message).join('\n')
  }

  test('a well-bound source has none', () => {
    expect(warnings(config())).toBe('')
  })

  test.each<[string, object, RegExp]>([
    ['no time bound', { verify: hmacBody({ signatureHeader: 'x-s' }) }, /binds no time: a captured push stays valid/],
    ['id not bound', { deliveryId: { header: 'x-id' } }, /does not cover the delivery id \(x-id\)/],
    ['type not bound', { eventType: { header: 'x-event' } }, /does not cover the event type \(x-event\)/],
    ['body digest as id', { deliveryId: 'body-digest' }, /equal bodies count as one/],
    ['plain http', { publicUrl: 'http://push.example/push/tickets' }, /not https/],
    [
      'no key active now',
      { keys: [{ id: 'k', secret: secret.env('TICKETS_SECRET'), notBefore: '2027-01-01T00:00:00Z' }] },
      /none is active now: every push is answered 503/,
    ],
    [
      'the same secret twice',
      {
        keys: [
          { id: 'a', secret: secret.env('TICKETS_SECRET') },
          { id: 'b', secret: secret.env('TICKETS_SECRET') },
        ],
      },
      /same secret as key "a"/,
    ],
  ])('source: %s', (_name, changes, expected) => {
    expect(warnings(withSource(changes))).toMatch(expected)
  })

  test('one secret for two sources', () => {
    const sources = { a: source(), b: source({ path: '/push/b' }) }
    expect(warnings(config({ sources }))).toMatch(/also a secret of source "a": a push captured there verifies here/)
  })

  test('a maximum age by a signed field closes the gap in time', () => {
    const verify = hmacBody({ signatureHeader: 'x-s' })
    expect(warnings(withSource({ verify, maxAge: { pointer: '/sentAt', age: '24h' } }))).toBe('')
  })

  test.each<[string, object, RegExp]>([
    ['retries beyond the key', { retry: { maxAge: '3d' } }, /longer than the key protects \(1430m\)/],
    ['loopback without leave', { url: 'http://127.0.0.1:9000/' }, /allowPrivate/],
    ['markers without a key', { idempotency: 'none', replayMarkers: [{ header: 'x-replayed' }] }, /never met/],
    ['a secret over http', { url: 'http://crm.example', headers: { 'x-t': secret.env('CRM_TOKEN') } }, /clear text/],
  ])('destination: %s', (_name, changes, expected) => {
    expect(warnings(withDestination(changes))).toMatch(expected)
  })
})

describe('secrets', () => {
  let dir = ''
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'counterfoil-secrets-'))
  })
  afterEach(() => rmSync(dir, { recursive: true, force: true }))
  const write = (name: string, text: string | Buffer) => writeFileSync(join(dir, name), text)
  const keyed = (ref: ReturnType<typeof secret.env>) => withSource({ keys: [{ id: 'k1', secret: ref }] })
  const keyOf = (loaded: ResolvedConfig) => loaded.sources.get('tickets')?.keys()[0]?.secret.toString()

  test.each<[string, Record<string, string>, RegExp]>([
    ['not set', {}, /variable TICKETS_SECRET is not set/],
    ['empty', { TICKETS_SECRET: '' }, /is empty/],
    ['blank', { TICKETS_SECRET: '   ' }, /only white space/],
    ['short', { TICKETS_SECRET: 'hunter2' }, /has 7 bytes; at least 16/],
    ['with a trailing newline', { TICKETS_SECRET: `${'s'.repeat(32)}\n` }, /white space or a newline/],
    ['set twice', { TICKETS_SECRET: 's'.repeat(32), TICKETS_SECRET_FILE: '/x' }, /both set/],
    [
      'in a missing file',
      { TICKETS_SECRET_FILE: '/nowhere/at/all' },
      /the file that TICKETS_SECRET_FILE names does not exist/,
    ],
  ])('a signing secret that is %s stops the start, naming source and key, never the secret', (_name, env, expected) => {
    const [problem, ...others] = problems(config(), env)
    expect(others).toEqual([])
    expect(problem).toMatchObject({ severity: 'error', path: 'sources.tickets.keys[0].secret (key "k1")' })
    expect(problem?.message).toMatch(expected)
    expect(JSON.stringify(problem)).not.toMatch(/hunter2|ssss/)
  })

  test('a mistyped variable is met with the nearest one', () => {
    expect(problems(keyed(secret.env('TICKET_SECRET')))[0]?.message).toContain('did you mean "TICKETS_SECRET"?')
  })

  test('a file loses exactly one trailing newline; relative paths start at the configuration', () => {
    write('one', 'a secret in a file of 32 bytes..\n')
    expect(keyOf(load(keyed(secret.file('one')), {}, dir))).toBe('a secret in a file of 32 bytes..')
    expect(keyOf(load(keyed(secret.env('X')), { X_FILE: join(dir, 'one') }, dir))).toBe(
      'a secret in a file of 32 bytes..',
    )
    write('two', 'a secret in a file of 32 bytes..\n\n')
    expect(resolve(keyed(secret.file('two')), {}, dir)).toMatchObject({ kind: 'invalid' })
  })

  test('base64 and hex are decoded strictly', () => {
    const bytes = Buffer.from('0123456789abcdef0123')
    const loadKey = (text: string, encoding: 'base64' | 'hex') =>
      resolve(keyed(secret.env('X', { encoding })), { X: text })
    expect(loadKey(bytes.toString('hex'), 'hex').kind).toBe('loaded')
    expect(loadKey(bytes.toString('base64'), 'base64').kind).toBe('loaded')
    expect(loadKey('not hex, but long enough', 'hex').problems[0]?.message).toMatch(/is not hex/)
    expect(loadKey('!!!! not base64 at all !!!!', 'base64').problems[0]?.message).toMatch(/is not base64/)
  })

  test('reloadSecrets reads files again: keys, headers and tokens follow', () => {
    for (const name of ['key', 'header', 'token']) write(name, `the first ${name} of these tests`)
    const loaded = load(
      {
        ...keyed(secret.file('key')),
        destinations: { crm: destination({ headers: { 'x-token': secret.file('header', { prefix: 'T ' }) } }) },
        operators: { ana: { token: secret.file('token') } },
      },
      {},
      dir,
    )
    for (const name of ['key', 'header', 'token']) write(name, `the second ${name} of these tests`)
    expect(keyOf(loaded)).toBe('the first key of these tests')
    expect(loaded.reloadSecrets()).toEqual([])
    expect(keyOf(loaded)).toBe('the second key of these tests')
    expect(loaded.destinations.get('crm')?.headers['x-token']).toBe('T the second header of these tests')
    expect(loaded.operators.get('ana')?.token.toString()).toBe('the second token of these tests')
  })

  test('a file that went bad keeps the old secret and is reported', () => {
    write('key', 'the first key of these tests')
    const loaded = load(keyed(secret.file('key')), {}, dir)
    write('key', '')
    expect(loaded.reloadSecrets()).toEqual([
      expect.objectContaining({ severity: 'error', message: expect.stringContaining('stays in use') }),
    ])
    expect(keyOf(loaded)).toBe('the first key of these tests')
    write('key', 'the second key of these tests')
    expect(loaded.reloadSecrets()).toEqual([])
    expect(keyOf(loaded)).toBe('the second key of these tests')
  })
})

describe('describe', () => {
  test('prints effective values, and secrets only as references (I10)', () => {
    const loaded = load({
      ...withSource({ routes: { t: route({ transition: { use: expire, subject: () => 'r', notDue: 'discard' } }) } }),
      destinations: {
        crm: destination({
          url: 'https://crm.example/x?token=in-the-query',
          headers: { authorization: secret.env('CRM_TOKEN', { prefix: 'Bearer ' }) },
        }),
      },
      operators: { ana: { token: secret.env('ANA_TOKEN') } },
    })
    const printed = JSON.stringify(loaded.describe())
    for (const value of [...Object.values(ENV), 'in-the-query']) expect(printed).not.toContain(value)
    expect(loaded.describe()).toMatchObject({
      sources: {
        tickets: {
          keys: [{ id: 'k1', secret: "secret.env('TICKETS_SECRET') (set, 32 bytes)" }],
          ack: { deadline: '2.5s' },
          verify: { scheme: 'hmac_timestamped', tolerance: '5m' },
        },
      },
      destinations: {
        crm: {
          timeouts: { total: '25s' },
          headers: { authorization: '"Bearer " + secret.env(\'CRM_TOKEN\') (set, 32 bytes)' },
        },
      },
      operators: { ana: { token: "secret.env('ANA_TOKEN') (set, 32 bytes)", approver: false } },
      transitions: { 'expire-hold': { table: 'shop.reservation' } },
    })
  })
})
