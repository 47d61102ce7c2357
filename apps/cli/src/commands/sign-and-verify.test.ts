import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PRESET_NAMES } from '@counterfoil/sources'
import { afterAll, describe, expect, it } from 'vitest'
import { runCommand } from '../cli.int-setup.js'
import { createSelfSignedCertificate } from '../sign/testing/self-signed-certificate.js'

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-sign-'))
afterAll(() => rmSync(folder, { recursive: true }))

function file(name: string, content: string | Buffer): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

const SECRET = Buffer.from('a secret of the tests, 32 bytes!').toString('base64')
const OTHER = Buffer.from('a secret of somebody else, long!').toString('base64')
const env = { HOOK_SECRET: SECRET, OTHER_SECRET: OTHER }
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'pem', type: 'pkcs8' })
const privateKey = file('rsa.pem', rsa)
const certificate = file('certificate.pem', createSelfSignedCertificate(createPrivateKey(rsa)))
const jwks = join(folder, 'jwks.json')

const URL_OF_TESTS = 'https://hooks.example.test/in'
const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:orders'
const shared = ['--secret-env', 'HOOK_SECRET']
const google = ['--service-account', 'push@project.iam.gserviceaccount.com', '--url', URL_OF_TESTS]
const issued = { sign: ['--private-key', privateKey, '--write-jwks', jwks], verify: ['--jwks', jwks] }
const event = { id: 'e-1', type: 'made', topic: '/t', eventType: 'made', source: '/s', subscriptionId: 1 }
const hubspotEvent = { portalId: 1, eventId: 2, subscriptionType: 'contact.creation', occurredAt: 3 }

type Case = {
  readonly body?: unknown
  /** To both commands. */
  readonly options?: readonly string[]
  readonly sign?: readonly string[]
  readonly verify?: readonly string[]
}

const CASES: Readonly<Record<string, Case>> = {
  standardWebhooks: { sign: ['--id', 'msg_1'] },
  svix: { sign: ['--id', 'msg_1'] },
  github: { sign: ['--id', 'g-1', '--type', 'push'] },
  stripe: {},
  slack: { body: { event_id: 'Ev1', type: 'event_callback' } },
  shopify: { sign: ['--id', 's-1', '--type', 'orders/paid'] },
  zendesk: {},
  intercom: { body: { id: 'n-1', topic: 'user.created' } },
  hubspot: { body: [hubspotEvent], options: ['--url', URL_OF_TESTS] },
  twilio: {
    body: 'MessageSid=SM1&MessageStatus=sent',
    options: ['--url', URL_OF_TESTS],
    sign: ['--content-type', 'application/x-www-form-urlencoded'],
  },
  pubsub: { body: { subscription: 's', message: { messageId: '7', data: '' } }, options: google, ...issued },
  cloudTasks: {
    options: google,
    sign: ['--header', 'x-cloudtasks-queuename: q', '--header', 'x-cloudtasks-taskname: 7', ...issued.sign],
    verify: issued.verify,
  },
  sns: {
    body: { MessageId: 'm-1', Message: '{}' },
    options: ['--topic', TOPIC],
    sign: ['--private-key', privateKey],
    verify: ['--certificate', certificate],
  },
  eventBridge: {},
  qstash: { options: ['--url', URL_OF_TESTS], sign: ['--id', 'q-1'] },
  eventGrid: {},
  cloudEvents: { sign: ['--header', 'ce-id: 1', '--header', 'ce-source: /s', '--header', 'ce-type: made'] },
  cloudflare: {},
}

async function signCase(name: string, { body = event, options = [], sign = [] }: Case, extra: readonly string[] = []) {
  const key = sign.includes('--private-key') ? [] : shared
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return runCommand(['sign', '--preset', name, ...key, ...options, ...sign, ...extra], env, text)
}

function verifyCase(
  name: string,
  { options = [], sign = [], verify = [] }: Case,
  capture: string,
  secret = 'HOOK_SECRET',
) {
  const key = sign.includes('--private-key') ? [] : ['--secret-env', secret]
  return runCommand(['verify', '--preset', name, ...key, ...options, ...verify, '--json'], env, capture)
}

describe.each(PRESET_NAMES)('preset %s', (name) => {
  const made = CASES[name] ?? {}

  it('verifies what it signs, and says which key and delivery', async () => {
    const signed = await signCase(name, made)
    expect(signed).toMatchObject({ code: 0 })
    const { code, stdout } = await verifyCase(name, made, signed.stdout)
    const document = JSON.parse(stdout)
    expect(document).toMatchObject({ schema_version: 1, verdict: 'valid', cause: null, would_be_valid_if: [] })
    expect(document.key_id).not.toBeNull()
    expect(document.deliveries).toHaveLength(1)
    expect(document.deliveries[0].delivery_id).toEqual(expect.any(String))
    expect(code).toBe(0)
  })

  it('refuses another secret, or what comes too late, and prints no secret', async () => {
    const signed = await signCase(name, made, ['--at', '30d'])
    const secret = made.sign?.includes('--private-key') ? 'HOOK_SECRET' : 'OTHER_SECRET'
    const { code, stdout, stderr } = await verifyCase(name, made, signed.stdout, secret)
    // SNS binds a time and checks none: how old a message may be is the owner's choice.
    expect(code).toBe(name === 'sns' ? 0 : 6)
    for (const secretText of [SECRET, OTHER]) {
      expect(stdout + stderr).not.toContain(secretText)
      expect(stdout + stderr).not.toContain(Buffer.from(secretText, 'base64').toString())
    }
  })
})

describe('counterfoil sign', () => {
  const body = file('event.json', '{"zen":"x"}')
  const args = ['sign', '--preset', 'github', ...shared, '--body', body]

  it('prints a curl command that reads the body from its file, quoted for a shell', async () => {
    const { stdout } = await runCommand([...args, '--curl', '--header', "x-note: it's", '--url', URL_OF_TESTS], env)
    expect(stdout).toContain(`curl --request POST '${URL_OF_TESTS}'`)
    expect(stdout).toContain(`--data-binary '@${body}'`)
    expect(stdout).toContain(`'x-note: it'\\''s'`)
  })

  it('wants a file for a body that curl could not read, and writes it there', async () => {
    const stripe = ['sign', '--preset', 'stripe', ...shared, '--body', body, '--curl', '--id', 'evt_1']
    expect(await runCommand(stripe, env)).toMatchObject({ code: 2, stderr: expect.stringContaining('--write-body') })
    const written = join(folder, 'written.json')
    const { code, stdout } = await runCommand([...stripe, '--write-body', written], env)
    expect(code).toBe(0)
    expect(stdout).toContain(`@${written}`)
    expect(JSON.parse(readFileSync(written, 'utf8'))).toMatchObject({ id: 'evt_1' })
  })

  it('prints a document with the body in base64, headers under their own names', async () => {
    const { stdout } = await runCommand([...args, '--json', '--at', '1767225600'], env)
    const document = JSON.parse(stdout)
    expect(document).toMatchObject({ schema_version: 1, preset: 'github', key_id: 'HOOK_SECRET', method: 'POST' })
    expect(document.signed_at).toBe('2026-01-01T00:00:00.000Z')
    expect(document.headers['x-hub-signature-256']).toMatch(/^sha256=/)
    expect(Buffer.from(document.body_base64, 'base64').toString()).toBe('{"zen":"x"}')
  })

  it('keeps a body that is no text byte for byte', async () => {
    const bytes = file('bytes', Buffer.from([0xff, 0x00, 0x0d, 0x0a]))
    const { stdout } = await runCommand(['sign', '--preset', 'github', ...shared, '--body', bytes, '--json'], env)
    expect(Buffer.from(JSON.parse(stdout).body_base64, 'base64')).toEqual(readFileSync(bytes))
  })

  it('signs with an ed25519 private key for a public one', async () => {
    const pair = generateKeyPairSync('ed25519').privateKey
    const pem = file('ed25519.pem', pair.export({ format: 'pem', type: 'pkcs8' }))
    const jwk = pair.export({ format: 'jwk' })
    const preset = ['--preset', 'svix', '--option', 'keys=whpk']
    const signed = await runCommand(['sign', ...preset, '--private-key', pem, '--body', body], env)
    expect(signed.code).toBe(0)
    const publicKey = { PUBLIC_KEY: `whpk_${Buffer.from(jwk.x ?? '', 'base64url').toString('base64')}` }
    const verify = ['verify', ...preset, '--secret-env', 'PUBLIC_KEY']
    expect(await runCommand(verify, publicKey, signed.stdout)).toMatchObject({ code: 0 })
    const whsk = { HOOK_SECRET: `whsk_${Buffer.from(jwk.d ?? '', 'base64url').toString('base64')}` }
    const again = await runCommand(['sign', ...preset, ...shared, '--body', body], whsk)
    expect(await runCommand(verify, publicKey, again.stdout)).toMatchObject({ code: 0 })
  })

  it.each([
    ['neither source nor preset', [], '--source <name>'],
    ['both', ['--preset', 'github', '--source', 'x'], 'both given'],
    ['a preset that there is not', ['--preset', 'gitlab', ...shared], 'there is no preset gitlab'],
    ['a preset without its secret', ['--preset', 'github'], '--secret-env or --secret-file'],
    ['a variable that is not set', ['--preset', 'github', '--secret-env', 'NOBODY'], 'NOBODY is not set'],
    ['an option that the preset has not', ['--preset', 'github', ...shared, '--option', 'x=1'], 'has no option x'],
    ['topics that are missing', ['--preset', 'sns'], 'needs the ARNs'],
    ['a shared secret where a private key signs', ['--preset', 'sns', '--topic', TOPIC, ...shared], '--private-key'],
    ['a key that is none', ['--preset', 'sns', '--topic', TOPIC, '--private-key', body], 'no private key in PEM'],
    ['a public URL that is missing', ['--preset', 'sns', '--topic', 'x'], 'needs the ARNs'],
  ])('refuses %s with exit code 2 and a sentence', async (_, options, text) => {
    const { code, stderr } = await runCommand(['sign', ...options, '--body', body], env)
    expect(stderr).toContain(text)
    expect(code).toBe(2)
  })
})
