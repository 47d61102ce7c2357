import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rootCertificates } from 'node:tls'
import { DEFAULT_KEY_RULE, type DestinationContract } from '@counterfoil/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ConfigProblem } from './problem.js'
import { resolveConfig } from './resolve-config.js'
import { route } from './route.js'
import { hmacBody } from './schemes.js'
import { secret } from './secret.js'

const TOKEN = 'token of the tests, thirty-two bytes'
const WHSEC = `whsec_${Buffer.from(TOKEN).toString('base64')}`
let dir = ''
const pair = generateKeyPairSync('rsa', { modulusLength: 2_048 })
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'counterfoil-destination-'))
  writeFileSync(join(dir, 'token'), TOKEN)
  writeFileSync(join(dir, 'cert.pem'), rootCertificates[0] ?? '')
  writeFileSync(join(dir, 'key.pem'), pair.privateKey.export({ type: 'pkcs8', format: 'pem' }))
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

function resolve(changes: object, sources: object = {}) {
  const idempotency = { header: 'Idempotency-Key', lifetime: '24h' }
  const crm = { url: 'https://crm.example/', idempotency, reviewWindow: '1d', ...changes }
  return resolveConfig({ sources, destinations: { crm } }, { env: { TOKEN, WHSEC }, baseDir: dir, now: 0 })
}

function load(changes: object): DestinationContract {
  const result = resolve(changes)
  const contract = result.kind === 'loaded' ? result.config.destinations.get('crm') : undefined
  if (contract === undefined) throw new Error(JSON.stringify(result.problems))
  return contract
}

const token = secret.env('TOKEN')
const pem = { cert: secret.file('cert.pem'), key: secret.file('key.pem') }

describe('the key of a destination', () => {
  test('is in a header, in the body, natural, or there is none', () => {
    const times = { lifetimeMs: 7_200_000, marginMs: 600_000 }
    expect(load({ idempotency: { header: 'K', lifetime: '2h' } }).idempotency).toEqual({
      kind: 'header',
      header: 'k',
      quoted: false,
      ...times,
    })
    expect(load({ idempotency: { pointer: '/k', lifetime: '2h' } }).idempotency).toEqual({
      kind: 'body',
      pointer: '/k',
      ...times,
    })
    expect(load({ idempotency: 'upsert' })).toMatchObject({ idempotency: { kind: 'upsert' }, replayMarkers: [] })
    expect(load({ idempotency: 'none' })).toMatchObject({ idempotency: { kind: 'none' }, replayMarkers: [] })
  })

  test('reaches every action as a rule, whatever the action says itself', () => {
    const action = { destination: 'crm', idempotencyKey: 'k', body: {}, keyRule: DEFAULT_KEY_RULE }
    const result = resolve(
      { idempotency: { pointer: '/k', lifetime: '2h', maxLength: 45, form: 'uuid' } },
      {
        s: {
          path: '/push/s',
          verify: hmacBody({ signatureHeader: 'x-s' }),
          keys: [{ id: 'k1', secret: token }],
          deliveryId: { pointer: '/id' },
          redeliveryHorizon: '3d',
          ack: { senderTimeout: '10s' },
          routes: { t: route({ actions: () => [action] }) },
        },
      },
    )
    if (result.kind !== 'loaded') throw new Error(JSON.stringify(result.problems))
    const event = { source: 's', deliveryId: 'd', type: 't', payload: {}, envelope: null, exactText: () => null }
    expect(result.config.sources.get('s')?.routes.get('t')?.actions(event)).toEqual([
      { ...action, keyRule: { maxLength: 45, form: 'uuid', pointer: '/k' } },
    ])
  })
})

describe('matchers', () => {
  test('become tests of status, header and body', () => {
    const matchers = [
      {
        status: [409, '5xx', '420-424'],
        headers: { 'X-State': 'done' },
        body: { '/a': [1, null], '/b': { exists: false } },
        outcome: 'rejected',
        decidesEarlier: true,
      },
      { outcome: 'held' },
    ]
    expect(load({ matchers }).matchers).toEqual([
      {
        statuses: [409, [500, 599], [420, 424]],
        headers: [{ header: 'x-state', test: { kind: 'one_of', values: ['done'] } }],
        body: [
          { pointer: '/a', test: { kind: 'one_of', values: [1, null] } },
          { pointer: '/b', test: { kind: 'absent' } },
        ],
        verdict: { kind: 'rejected', reason: 'refused', decidesEarlier: true },
      },
      {
        statuses: [],
        headers: [],
        body: [],
        verdict: { kind: 'uncertain', cause: 'by_matcher', retryTellsNothing: true },
      },
    ])
  })

  test('of an owner are asked before those of the endpoint, whose key stays unless one is given', () => {
    const mine = { status: 409, outcome: 'repeat' }
    const contract = load({ endpoint: 'resend', idempotency: undefined, matchers: [mine] })
    expect(contract.matchers.map(({ verdict }) => verdict.kind)).toEqual([
      'accepted',
      'rejected',
      'in_progress_with_key',
    ])
    expect(load({ endpoint: 'slack', idempotency: 'none' }).idempotency).toEqual({ kind: 'none' })
  })
})

describe('problems of a destination', () => {
  const problemsOf = (changes: object): readonly ConfigProblem[] => resolve(changes).problems

  test.each<[string, object, string, RegExp]>([
    ['a status that is none', { matchers: [{ status: '9xx', outcome: 'gone' }] }, 'matchers[0].status', /'4xx'/],
    ['an unknown outcome', { matchers: [{ outcome: 'accept' }] }, 'matchers[0].outcome', /did you mean "accepted"/],
    ['a pointer that is none', { matchers: [{ body: { a: 1 }, outcome: 'gone' }] }, 'matchers[0].body.a', /./],
    [
      'a decisive yes',
      { matchers: [{ outcome: 'accepted', decidesEarlier: true }] },
      'matchers[0].decidesEarlier',
      /in any case/,
    ],
    [
      'a body that is not read',
      { responseCap: 0, matchers: [{ body: { '/a': 1 }, outcome: 'gone' }] },
      'matchers[0].body',
      /never read/,
    ],
    ['an unknown endpoint', { endpoint: 'zendesc' }, 'endpoint', /did you mean "zendesk"/],
    ['a key too short', { idempotency: { header: 'k', lifetime: '2h', maxLength: 20 } }, 'idempotency.maxLength', /44/],
    [
      'two ways in',
      { auth: { bearer: token, basic: { user: 'a', password: token } } },
      'auth',
      /exactly one of bearer/,
    ],
    ['no way in', { auth: {} }, 'auth', /exactly one of/],
    ['a secret as text', { auth: { bearer: 'abc' } }, 'auth.bearer', /never stands in the configuration/],
    [
      'a header that auth writes',
      { auth: { bearer: token }, headers: { authorization: token } },
      'headers.authorization',
      /written by auth/,
    ],
    [
      'a key in a header that auth writes',
      { auth: { hmac: { secret: token, header: 'idempotency-key' } } },
      'idempotency.header',
      /header of its own/,
    ],
    [
      'a token endpoint in clear text',
      { auth: { oauth2: { tokenUrl: 'http://id.example/', clientId: 'a', clientSecret: token } } },
      'auth.oauth2.tokenUrl',
      /in clear/,
    ],
    ['half a certificate', { tls: { cert: secret.file('cert.pem') } }, 'tls', /cert and key together/],
    ['TLS without https', { url: 'http://crm.example/', tls: pem }, 'tls', /not https/],
    ['a certificate that is none', { tls: { ca: token } }, 'tls.ca', /no certificate in PEM/],
  ])('%s is an error', (_name, changes, path, message) => {
    expect(problemsOf(changes)).toContainEqual({
      severity: 'error',
      path: `destinations.crm.${path}`,
      message: expect.stringMatching(message),
    })
  })

  test.each<[string, object, RegExp]>([
    ['a matcher after one that always holds', { matchers: [{ outcome: 'held' }, { outcome: 'gone' }] }, /never asked/],
    ['"in progress" without a key', { idempotency: 'none', matchers: [{ outcome: 'in_progress' }] }, /as rejected/],
    ['credentials over http', { url: 'http://crm.example/', auth: { bearer: token } }, /clear text/],
    ['general knowledge', { endpoint: 'stripe' }, /rests on general knowledge/],
    ['a private key that never changes', { tls: { cert: pem.cert, key: secret.env('PEM') } }, /can be rotated/],
  ])('%s is a warning', (_name, changes, message) => {
    expect(problemsOf(changes)).toContainEqual(
      expect.objectContaining({ severity: 'warning', message: expect.stringMatching(message) }),
    )
  })
})

describe('credentials', () => {
  const ways: readonly object[] = [
    { bearer: token },
    { basic: { user: 'ana', password: token } },
    { hmac: { secret: token, header: 'x-signature', timestampHeader: 'x-time' } },
    { standardWebhooks: { secrets: [secret.env('WHSEC'), secret.env('WHSEC')] } },
    { oauth2: { tokenUrl: 'https://id.example/token?t=1', clientId: 'us', clientSecret: token, scope: 'write' } },
  ]

  test.each(ways)('%o are in use, and printed as references only (I10)', (auth) => {
    const result = resolve({ auth, tls: { ...pem, ca: pem.cert } })
    if (result.kind !== 'loaded') throw new Error(JSON.stringify(result.problems))
    expect(result.problems).toEqual([])
    const printed = JSON.stringify(result.config.describe())
    expect(printed).toMatch(/secret\.env\('(TOKEN|WHSEC)'\) \(set, \d+ bytes\)/)
    expect(printed).toMatch(/secret\.file\('key\.pem'\) \(set, \d+ bytes\)/)
    expect(printed).not.toContain(TOKEN)
    expect(printed).not.toMatch(/BEGIN|t=1/)
  })

  test('of a file are read again on reload, without a new contract', () => {
    const result = resolve({ auth: { bearer: secret.file('token') } })
    if (result.kind !== 'loaded') throw new Error(JSON.stringify(result.problems))
    const auth = result.config.destinations.get('crm')?.auth
    const read = () => (auth?.kind === 'bearer' ? auth.token().toString() : null)
    expect(read()).toBe(TOKEN)
    writeFileSync(join(dir, 'token'), 'another token')
    expect(read()).toBe(TOKEN)
    expect(result.config.reloadSecrets()).toEqual([])
    expect(read()).toBe('another token')
  })
})
