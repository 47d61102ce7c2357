import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { runCommand } from '../cli.int-setup.js'

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-verify-'))
afterAll(() => rmSync(folder, { recursive: true }))

function file(name: string, content: string | Buffer): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

const SECRET = Buffer.from('a secret of the tests, 32 bytes!').toString('hex')
const BODY = '{"type": "made", "personal": "ana@example.test"}'
const NOW = 1_767_225_600
const config = file(
  'counterfoil.config.ts',
  `import { defineConfig, github, hmacTimestamped, secret, slack } from '@counterfoil/config'
const common = { eventType: { pointer: '/type' }, redeliveryHorizon: '3d', routes: {} }
export default defineConfig({
  sources: {
    tickets: {
      ...common,
      path: '/push/tickets',
      publicUrl: 'https://hooks.example.test/push/tickets',
      verify: hmacTimestamped({ signatureHeader: 'X-Signature', timestampHeader: 'X-Timestamp' }),
      keys: [
        { id: 'demo-1', secret: secret.env('HOOK_SECRET') },
        { id: 'live-1', secret: secret.env('HOOK_SECRET') },
        { id: 'demo-old', secret: secret.env('OLD_SECRET'), notAfter: '2026-01-01T00:00:00Z' },
      ],
      deliveryId: { header: 'X-Delivery-ID' },
      ack: { senderTimeout: '10s', deadline: '2s' },
    },
  },
  destinations: {},
})
`,
)
const PEM = { format: 'pem', type: 'pkcs8' } as const
const googleConfig = (keySetUrl: string) => `import { defineConfig, pubsub, route } from '@counterfoil/config'
export default defineConfig({
  sources: {
    events: {
      path: '/push/events',
      publicUrl: 'https://hooks.example.test/push/events',
      preset: pubsub({ serviceAccounts: ['push@p.iam.gserviceaccount.com'], keySetUrl: '${keySetUrl}' }),
      routes: {},
      otherwise: route({}),
    },
  },
  destinations: {},
})
`
const env = {
  HOOK_SECRET: SECRET,
  OLD_SECRET: 'the secret of another year',
  OTHER_SECRET: 'a secret of somebody else, long',
  COUNTERFOIL_CONFIG: config,
}
const AT = ['--at', String(NOW)]
const body = file('body.json', BODY)

async function sign(...extra: readonly string[]): Promise<string> {
  const args = ['sign', '--source', 'tickets', '--body', body, '--id', 'd-1', ...AT, ...extra]
  const { code, stdout, stderr } = await runCommand(args, env)
  if (code !== 0) throw new Error(stderr)
  return stdout
}

/** Runs it twice, for people and for machines; neither may show a secret, the signature or the body (I10). */
async function verify(capture: string, args: readonly string[] = ['--source', 'tickets', ...AT], change: object = {}) {
  const around = { ...env, ...change }
  const [people, machines] = [
    await runCommand(['verify', ...args], around, capture),
    await runCommand(['verify', ...args, '--json'], around, capture),
  ]
  const printed = people.stdout + people.stderr + machines.stdout + machines.stderr
  const signature = /^x-signature: (\S+)/m.exec(capture)?.[1] ?? SECRET
  for (const hidden of [
    SECRET,
    Buffer.from(SECRET, 'hex').toString(),
    env.OLD_SECRET,
    env.OTHER_SECRET,
    signature,
    'ana@example.test',
  ]) {
    expect(printed).not.toContain(hidden)
  }
  expect(machines.code).toBe(people.code)
  return { ...people, document: machines.stdout === '' ? null : JSON.parse(machines.stdout) }
}

describe('counterfoil verify', () => {
  it('says of a valid capture key, id, type and what the signature covers: exit 0', async () => {
    const { code, stdout, document } = await verify(await sign())
    expect(code).toBe(0)
    expect(stdout).toBe(
      'valid: key demo-1, signed at 2026-01-01 00:00:00.000Z\n' +
        '  the signature covers the body, the time, and not the id, the URL\n' +
        '  delivery d-1 · type made\n',
    )
    expect(document).toEqual({
      schema_version: 1,
      source: 'tickets',
      preset: null,
      verdict: 'valid',
      judged_at: '2026-01-01T00:00:00.000Z',
      key_id: 'demo-1',
      signed_at: '2026-01-01T00:00:00.000Z',
      binds: { body: true, id: false, time: true, url: false },
      deliveries: [{ delivery_id: 'd-1', event_type: 'made', quarantined: null }],
      handshake: null,
      cause: null,
      hint: null,
      off_time: null,
      would_be_valid_if: [],
      notes: [],
    })
  })

  it('takes a capture from a file, and headers and body apart', async () => {
    const capture = await sign()
    const headers = file(
      'headers.txt',
      `${capture.slice(0, capture.indexOf('\r\n\r\n')).split('\r\n').slice(1).join('\n')}\n`,
    )
    const source = ['--source', 'tickets', ...AT]
    expect(await runCommand(['verify', file('push.http', capture), ...source], env)).toMatchObject({ code: 0 })
    expect(await runCommand(['verify', '--headers', headers, '--body', body, ...source], env)).toMatchObject({
      code: 0,
    })
  })

  it('says how late a capture is, and that it was right at its time: exit 6', async () => {
    const late = ['--source', 'tickets', '--at', String(NOW + 900)]
    const { code, stdout, document } = await verify(await sign(), late)
    expect(code).toBe(6)
    expect(stdout).toContain('not valid: timestamp_stale')
    expect(stdout).toContain('900 s before the moment that it is judged at')
    expect(stdout).toContain('at that moment it is valid')
    expect(document).toMatchObject({
      verdict: 'invalid',
      cause: 'timestamp_stale',
      off_time: { age_ms: 900_000, valid_then: true },
    })
    const early = await verify(await sign(), ['--source', 'tickets', '--at', String(NOW - 900)])
    expect(early.stdout).toContain('900 s after')
    expect(early.stdout).toContain('NTP')
  })

  it.each([
    ['a newline at the end of the file', (text: string) => `${text}\n`, '1 more follow', 0, null],
    [
      'a body that was minified',
      (text: string) => text.replace(BODY, JSON.stringify(JSON.parse(BODY))),
      'a space after each colon',
      6,
      'body_spaced',
    ],
    [
      'a signature that is gone',
      (text: string) => text.replace(/x-signature: .*\r\n/, ''),
      'no header of it looks like a signature',
      6,
      null,
    ],
    [
      'a signature under another name',
      (text: string) => text.replace('x-signature:', 'x-my-signature:'),
      'look like a signature: x-my-signature',
      6,
      null,
    ],
    [
      'a signature of another form',
      (text: string) => text.replace('x-signature: ', 'x-signature: sha256='),
      'signature_malformed',
      6,
      null,
    ],
    [
      'a signature twice',
      (text: string) => text.replace(/(x-signature: .*\r\n)/, '$1$1'),
      'had come once',
      6,
      'header_first_only',
    ],
    ['another content', (text: string) => text.replace('made', 'mode'), 'compare the key at the sender', 6, null],
    [
      'another path',
      (text: string) => text.replace('/push/tickets', '/push/other'),
      'the receiver answers 404',
      0,
      null,
    ],
    [
      'an id that is gone',
      (text: string) => text.replace(/x-delivery-id: .*\r\n/, ''),
      'not usable: delivery_id_missing',
      6,
      null,
    ],
  ])('explains %s', async (_, change, words, code, finding) => {
    const verdict = await verify(change(await sign()))
    expect(verdict.code).toBe(code)
    expect(verdict.stdout).toContain(words)
    const codes = verdict.document.would_be_valid_if.flatMap((one: { codes: string[] }) => one.codes)
    expect(codes).toEqual(finding === null ? [] : [finding])
  })

  it('names a key that is not active any more', async () => {
    const { stdout } = await verify(await sign('--key', 'demo-old'), ['--source', 'tickets', '--at', String(NOW + 60)])
    expect(stdout).toContain('it would be valid if key demo-old were active, which it is only until 2026-01-01')
  })

  it('says how a misread secret would have to be read', async () => {
    const preset = ['--preset', 'github', '--body', body]
    const text = Buffer.from(SECRET, 'hex').toString()
    const signed = await runCommand(['sign', ...preset, '--secret-env', 'TEXT'], { TEXT: text })
    const judge = ['--preset', 'github', '--secret-env', 'HOOK_SECRET']
    const { code, stdout } = await verify(signed.stdout, judge)
    expect(code).toBe(6)
    expect(stdout).toContain('it would be valid if the secret were read as hex')
  })

  it('says that a secret is none in its own form, and tries it as text', async () => {
    const change = { PLAIN: 'not base64 at all, of the tests' }
    const signed = await runCommand(
      ['sign', '--preset', 'svix', '--secret-env', 'ENCODED', '--id', 'm-1', '--body', body, ...AT],
      {
        ENCODED: Buffer.from(change.PLAIN).toString('base64'),
      },
    )
    const judge = ['--preset', 'svix', '--secret-env', 'PLAIN', ...AT]
    const { code, stdout, document } = await verify(signed.stdout, judge, change)
    expect(code).toBe(6)
    expect(stdout).toContain('the secret is not base64')
    expect(document).toMatchObject({ cause: 'secret_unusable', would_be_valid_if: [{ codes: ['secret_text'] }] })
    expect(stdout).not.toContain(change.PLAIN)
  })

  it('names the URL that the sender signed', async () => {
    const shared = ['--preset', 'hubspot', '--secret-env', 'HOOK_SECRET', ...AT]
    const signed = await runCommand(
      ['sign', ...shared, '--url', 'https://hooks.example.test/in', '--body', file('list', '[{}]')],
      env,
    )
    const { code, stdout } = await verify(signed.stdout, [...shared, '--url', 'http://hooks.example.test/in'])
    expect(code).toBe(6)
    expect(stdout).toContain('it were judged as pushed to https://hooks.example.test/in')
    const missing = await verify(signed.stdout, shared)
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('--url') })
  })

  it('fetches keys as the receiver does, and says when they are not to be had: exit 7', async () => {
    const privateKey = file('rsa.pem', generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export(PEM))
    const jwks = join(folder, 'jwks.json')
    const key = ['--private-key', privateKey, '--write-jwks', jwks]
    const path = (name: string) => join(folder, `${name}.config.ts`)
    const published = createServer((_, response) => response.end(readFileSync(jwks)))
    await new Promise<void>((resolve) => published.listen(0, '127.0.0.1', resolve))
    const { port } = published.address() as AddressInfo
    writeFileSync(path('fetched'), googleConfig(`http://127.0.0.1:${port}/keys`))
    writeFileSync(path('away'), googleConfig('http://127.0.0.1:1/keys'))
    try {
      const fetched = ['--source', 'events', '--config', path('fetched'), ...AT]
      const message = '{"subscription":"s","message":{"messageId":"7","data":""}}'
      const signed = await runCommand(['sign', ...fetched, ...key], env, message)
      expect(signed.code).toBe(0)
      expect(await verify(signed.stdout, fetched)).toMatchObject({ code: 0, document: { key_id: 'counterfoil-test' } })
      const away = await verify(signed.stdout, ['--source', 'events', '--config', path('away'), ...AT])
      expect(away).toMatchObject({ code: 7, document: { verdict: 'unjudged', cause: 'key_material_unavailable' } })
    } finally {
      published.close()
    }
  })

  it.each([
    ['a capture that is none', [], 'hello', "the capture can't be read"],
    ['a file that is not there', [join(folder, 'nowhere')], '', "can't be read: ENOENT"],
    ['headers without a body', ['--headers', body], '', '--headers and --body'],
    ['a certificate that is none', ['--certificate', body], 'POST / HTTP/1.1\n\n', 'no certificate'],
    ['a key set that is none', ['--jwks', body], 'POST / HTTP/1.1\n\n', '--jwks is no key set'],
    ['a time that is none', ['--at', 'yesterday'], '', '2026-11-29'],
    ['a URL that is none', ['--url', 'ftp://x'], '', 'http or https URL'],
    ['a secret beside a source', ['--secret-env', 'HOOK_SECRET'], '', 'brings its own keys'],
    ['two secrets', ['--preset', 'github', '--secret-env', 'A', '--secret-file', 'b'], '', 'both given'],
  ])('refuses %s with exit code 2 and a sentence', async (_, options, stdin, text) => {
    const source = options.includes('--preset') ? [] : ['--source', 'tickets']
    const { code, stderr } = await runCommand(['verify', ...source, ...options], env, stdin)
    expect(stderr).toContain(text)
    expect(code).toBe(2)
  })
})

describe('counterfoil sign with a configured key', () => {
  it('is free for a demo key, and refused for any other unless an operator forces it', async () => {
    const live = ['sign', '--source', 'tickets', '--body', body, '--key', 'live-1']
    expect(await runCommand(live, env)).toMatchObject({
      code: 4,
      stdout: '',
      stderr: expect.stringContaining('not a demo key'),
    })
    expect(await runCommand([...live, '--force'], env)).toMatchObject({ code: 2, stdout: '' })
    const forced = await runCommand([...live, '--force', '--reason', 'to try it'], env)
    expect(forced).toMatchObject({ code: expect.any(Number), stdout: '' })
    expect(forced.code).not.toBe(0)
  })
})
