import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { configModule } from './config-module.js'
import { defineConfig, type PresetSourceDefinition } from './definition.js'
import * as api from './index.js'
import { resolveConfig } from './resolve-config.js'
import { secret } from './secret.js'

const PLAIN = 'a preset secret of the tests 0001'
const ENV = {
  PLAIN,
  SHORT: 'short',
  WHSEC: `whsec_${Buffer.from(PLAIN).toString('base64')}`,
  WHSEC_18: `whsec_${Buffer.from('18 bytes of secret').toString('base64')}`,
  WHPK: `whpk_${Buffer.alloc(32, 7).toString('base64')}`,
  WHPK_31: `whpk_${Buffer.alloc(31, 7).toString('base64')}`,
  ZENDESK_TEST: Buffer.from('this_secret_is_for_testing_only').toString('base64'),
}
const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:orders'
const ACCOUNT = { serviceAccounts: ['push@project.iam.gserviceaccount.com'] }
const publicUrl = 'https://hooks.example.test/push/in'

const keys = (variable: keyof typeof ENV) => [{ id: 'k1', secret: secret.env(variable) }]
const source = (changes: Omit<PresetSourceDefinition, 'path' | 'routes'>): PresetSourceDefinition => ({
  path: '/push/in',
  routes: {},
  ...changes,
})
const load = (definition: PresetSourceDefinition) =>
  resolveConfig(defineConfig({ sources: { in: definition }, destinations: {} }), { env: ENV, baseDir: '/', now: 0 })

function complaints(definition: PresetSourceDefinition, severity: 'error' | 'warning'): string[] {
  const { problems } = load(definition)
  return problems.filter((problem) => problem.severity === severity).map(({ path, message }) => `${path}: ${message}`)
}

const MINIMAL: readonly [string, PresetSourceDefinition][] = [
  ['standardWebhooks', source({ preset: api.standardWebhooks(), keys: keys('WHSEC') })],
  ['standardWebhooks', source({ preset: api.svix({ keys: 'whpk' }), keys: keys('WHPK') })],
  ['github', source({ preset: api.github(), keys: keys('PLAIN') })],
  ['stripe', source({ preset: api.stripe(), keys: keys('PLAIN') })],
  ['slack', source({ preset: api.slack(), keys: keys('PLAIN') })],
  ['shopify', source({ preset: api.shopify(), keys: keys('PLAIN') })],
  ['zendesk', source({ preset: api.zendesk(), keys: keys('PLAIN') })],
  ['intercom', source({ preset: api.intercom(), keys: keys('PLAIN') })],
  ['hubspot', source({ preset: api.hubspot(), keys: keys('PLAIN'), publicUrl })],
  ['twilio', source({ preset: api.twilio(), keys: keys('PLAIN'), publicUrl })],
  ['pubsub', source({ preset: api.pubsub(ACCOUNT), publicUrl })],
  ['pubsub', source({ preset: api.pubsub({ ...ACCOUNT, audience: ['mine'], payload: 'unwrapped_with_metadata' }) })],
  ['cloudTasks', source({ preset: api.cloudTasks(ACCOUNT), publicUrl })],
  ['sns', source({ preset: api.sns({ topicArns: [TOPIC] }) })],
  ['eventBridge', source({ preset: api.eventBridge(), keys: keys('PLAIN') })],
  ['qstash', source({ preset: api.qstash(), keys: keys('PLAIN'), publicUrl })],
  ['eventGrid', source({ preset: api.eventGrid(), keys: keys('PLAIN') })],
  ['cloudEvents', source({ preset: api.cloudEvents(), keys: keys('PLAIN') })],
  ['cloudflare', source({ preset: api.cloudflare(), keys: keys('PLAIN') })],
]

describe('a source with a preset', () => {
  test.each(MINIMAL)('%s is complete with path, keys and routes', (name, definition) => {
    expect(complaints(definition, 'error')).toEqual([])
    const loaded = load(definition)
    const config = loaded.kind === 'loaded' ? loaded.config : null
    const { ack, deliveryId, redeliveryHorizonMs } = definition.preset.contract
    expect(config?.sources.get('in')).toMatchObject({ ack, deliveryId, redeliveryHorizonMs, path: '/push/in' })
    expect(config?.describe()).toMatchObject({ sources: { in: { preset: name, verify: expect.anything() } } })
    expect(JSON.stringify(config?.describe())).not.toContain(PLAIN)
  })

  test('a configuration file gets every preset that the package exports, and the docs name each', () => {
    const docs = readFileSync(resolve(import.meta.dirname, '../../../docs/configuration.md'), 'utf8')
    const section = docs.slice(docs.indexOf('### Presets'), docs.indexOf('### A route'))
    const exported = new Map(Object.entries(api))
    for (const name of [...new Set(MINIMAL.map(([preset]) => preset)), 'svix', 'hmac', 'ed25519', 'staticToken']) {
      expect(configModule).toHaveProperty(name, exported.get(name))
      expect(section).toContain(`\`${name}\``)
    }
  })

  test('what the owner gives counts where it is safe', () => {
    const definition = source({
      preset: api.github(),
      keys: keys('PLAIN'),
      redeliveryHorizon: '60d',
      bodyLimit: 1_000,
      eventType: { fixed: 'all' },
      volatile: ['/n'],
      ack: { body: () => ({}), deadline: '1s', onMalformed: 'quarantine' },
    })
    const loaded = load(definition)
    expect(loaded.kind === 'loaded' && loaded.config.sources.get('in')).toMatchObject({
      redeliveryHorizonMs: 60 * 86_400_000,
      bodyLimitBytes: 1_000,
      eventType: { kind: 'fixed', value: 'all' },
      volatilePointers: ['/n'],
      ack: { status: 200, deadlineMs: 1_000, onMalformed: 'quarantine', senderTimeoutMs: 10_000 },
    })
  })
})

describe('refused', () => {
  const github = (changes: object) => source({ preset: api.github(), keys: keys('PLAIN'), ...changes })
  const CASES: readonly [string, PresetSourceDefinition, RegExp][] = [
    [
      'a horizon shorter than the sender needs',
      github({ redeliveryHorizon: '3d' }),
      /redeliveryHorizon: 3d is shorter than the 30d/,
    ],
    [
      'a deadline that the sender does not wait for',
      source({ preset: api.slack(), keys: keys('PLAIN'), ack: { deadline: '4s' } }),
      /ack.deadline: 4s must be shorter than senderTimeout \(3s\)/,
    ],
    ['Twilio without its URL', source({ preset: api.twilio(), keys: keys('PLAIN') }), /publicUrl: is missing/],
    ['HubSpot without its URL', source({ preset: api.hubspot(), keys: keys('PLAIN') }), /publicUrl: is missing/],
    ['QStash without its URL', source({ preset: api.qstash(), keys: keys('PLAIN') }), /publicUrl: is missing/],
    ['Google without an audience or URL', source({ preset: api.pubsub(ACCOUNT) }), /publicUrl: is missing/],
    [
      'Google without an account',
      source({ preset: api.pubsub({ serviceAccounts: [] }), publicUrl }),
      /preset.serviceAccounts: needs the e-mail/,
    ],
    [
      'Google without any option',
      source({ preset: api.cloudTasks(undefined as never), publicUrl }),
      /preset.serviceAccounts: needs the e-mail/,
    ],
    ['SNS without topics', source({ preset: api.sns({ topicArns: [] }) }), /preset.topicArns: needs the ARNs/],
    [
      'SNS with a pattern for topics',
      source({ preset: api.sns({ topicArns: ['arn:aws:sns:*'] }) }),
      /preset.topicArns: needs the ARNs/,
    ],
    [
      'keys where they are fetched',
      source({ preset: api.sns({ topicArns: [TOPIC] }), keys: keys('PLAIN') }),
      /keys: has no use here/,
    ],
    ['no keys where they are needed', source({ preset: api.stripe() }), /keys: is empty: without a key/],
    ['a short secret', source({ preset: api.stripe(), keys: keys('SHORT') }), /has 5 bytes; at least 16/],
    ['a text where whsec_ belongs', source({ preset: api.svix(), keys: keys('PLAIN') }), /is not base64/],
    [
      'a public key where whsec_ belongs',
      source({ preset: api.svix(), keys: keys('WHPK') }),
      /is a whpk_ key where a whsec_ key belongs/,
    ],
    [
      'a public key of the wrong length',
      source({ preset: api.svix({ keys: 'whpk' }), keys: keys('WHPK_31') }),
      /has 31 bytes, an ed25519 public key has 32/,
    ],
    [
      'the published test secret',
      source({ preset: api.zendesk(), keys: keys('ZENDESK_TEST') }),
      /Zendesk publishes for tests/,
    ],
    [
      'an encoding that is not the sender’s',
      source({ preset: api.stripe(), keys: [{ id: 'k', secret: secret.env('PLAIN', { encoding: 'base64' }) }] }),
      /is read as utf8/,
    ],
    [
      'a refusal that Pub/Sub would repeat for days',
      source({ preset: api.pubsub(ACCOUNT), publicUrl, ack: { onMalformed: 'refuse_400' } }),
      /ack.onMalformed: pubsub takes a refusal/,
    ],
    [
      'a body beside TwiML',
      source({ preset: api.twilio({ reply: 'twiml' }), publicUrl, keys: keys('PLAIN'), ack: { body: () => ({}) } }),
      /ack: the preset answers with text\/xml/,
    ],
    ['a preset that was not called', github({ preset: api.github }), /preset: must be called/],
    ['a preset and verify', github({ verify: api.hmacBody({ signatureHeader: 'x' }) }), /"verify" is not known here/],
  ]

  test.each(CASES)('%s', (_title, definition, message) => {
    expect(complaints(definition, 'error').join('\n')).toMatch(message)
    expect(
      load(definition)
        .problems.map(({ message }) => message)
        .join('\n'),
    ).not.toContain(PLAIN)
  })
})

describe('warned of', () => {
  const CASES: readonly [string, PresetSourceDefinition, RegExp][] = [
    [
      'no time and no id',
      source({ preset: api.github(), keys: keys('PLAIN') }),
      /binds no time[\s\S]*does not cover the delivery id \(x-github-delivery\) and the event type/,
    ],
    ['no content', source({ preset: api.pubsub(ACCOUNT), publicUrl }), /signs no content.*until the token expires/],
    [
      'a bare secret',
      source({ preset: api.eventBridge(), keys: keys('PLAIN') }),
      /signs no content.*as long as the secret is in use/,
    ],
    ['no id at all', source({ preset: api.cloudflare(), keys: keys('PLAIN') }), /equal bodies count as one delivery/],
    ['SHA-1', source({ preset: api.sns({ topicArns: [TOPIC], allowSha1: true }) }), /takes SHA-1/],
    [
      'old plain hashes',
      source({ preset: api.hubspot({ signature: 'v1' }), keys: keys('PLAIN'), publicUrl }),
      /plain hashes/,
    ],
    ['a short Svix secret', source({ preset: api.svix(), keys: keys('WHSEC_18') }), /has 18 bytes after decoding/],
  ]

  test.each(CASES)('%s', (_title, definition, message) => {
    expect(complaints(definition, 'error')).toEqual([])
    expect(complaints(definition, 'warning').join('\n')).toMatch(message)
  })

  test('nothing, where the sender signs id, time and content', () => {
    expect(complaints(source({ preset: api.svix(), keys: keys('WHSEC') }), 'warning')).toEqual([])
  })
})

describe('a scheme of its own', () => {
  test('counts for a generic source, and its keys are read as it says', () => {
    const verify = api.hmac({
      parts: ['id', { text: '|' }, 'body'],
      headers: { signature: 'x-s', id: 'x-id' },
      grammar: { kind: 'single', prefix: '' },
      keyEncoding: 'base64',
    })
    const definition = {
      path: '/push/own',
      verify,
      keys: [{ id: 'k', secret: secret.env('ZENDESK_TEST') }],
      deliveryId: { header: 'x-id' },
      redeliveryHorizon: '3d' as const,
      ack: { senderTimeout: '10s' as const },
      routes: {},
    }
    const result = resolveConfig(defineConfig({ sources: { own: definition }, destinations: {} }), {
      env: ENV,
      baseDir: '/',
      now: 0,
    })
    const own = result.kind === 'loaded' ? result.config.sources.get('own') : undefined
    expect(own?.keys()[0]?.secret.toString()).toBe('this_secret_is_for_testing_only')
    expect(own).toMatchObject({ verify: verify.verify, binds: { id: true } })
  })
})
