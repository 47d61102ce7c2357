import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { runCommand } from '../cli.int-setup.js'

const folder = mkdtempSync(join(tmpdir(), 'counterfoil-generic-'))
afterAll(() => rmSync(folder, { recursive: true }))

function file(name: string, content: string | Buffer): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

const pair = generateKeyPairSync('ed25519').privateKey
const privateKey = file('ed25519.pem', pair.export({ format: 'pem', type: 'pkcs8' }))
const stranger = file('other.pem', generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }))
const publicKey = Buffer.from(pair.export({ format: 'jwk' }).x ?? '', 'base64url')
const SECRET = 'a secret of the tests, 32 bytes!'
const env = {
  PUBLIC_KEY: `whpk_${publicKey.toString('base64')}`,
  HOOK_SECRET: SECRET,
  BASIC_SECRET: `user:${SECRET}`,
  COUNTERFOIL_CONFIG: file(
    'counterfoil.config.ts',
    `import { defineConfig, ed25519, hmac, secret, staticToken } from '@counterfoil/config'
const source = (name, verify, variable) => ({
  path: '/push/' + name,
  publicUrl: 'https://hooks.example.test/push/' + name,
  verify,
  keys: [{ id: 'demo-' + name, secret: secret.env(variable) }],
  deliveryId: { pointer: '/id' },
  redeliveryHorizon: '3d',
  ack: { senderTimeout: '10s', deadline: '2s' },
  routes: {},
})
const signed = { headers: { signature: 'x-signature', timestamp: 'x-time' }, grammar: { kind: 'single', prefix: '' } }
const parts = ['timestamp', { text: '.' }, 'body']
export default defineConfig({
  sources: {
    hmac: source('hmac', hmac({ ...signed, parts }), 'HOOK_SECRET'),
    urls: source('urls', hmac({ ...signed, parts: ['method', 'url', 'timestamp', 'body'] }), 'HOOK_SECRET'),
    ed: source('ed', ed25519({ ...signed, parts }), 'PUBLIC_KEY'),
    header: source('header', staticToken({ kind: 'header', header: 'x-api-key' }), 'HOOK_SECRET'),
    query: source('query', staticToken({ kind: 'query', parameter: 'key' }), 'HOOK_SECRET'),
    basic: source('basic', staticToken({ kind: 'basic' }), 'BASIC_SECRET'),
  },
  destinations: {},
})
`,
  ),
}
const BODY = '{"id":"e-1"}'

it.each([
  ['hmac', []],
  ['urls', ['--url', 'https://hooks.example.test/push/urls?tenant=7']],
  ['ed', ['--private-key', privateKey]],
  ['header', []],
  ['query', []],
  ['basic', []],
])('a generic source (%s) verifies what is signed for it, and shows no secret', async (source, options) => {
  const signed = await runCommand(['sign', '--source', source, ...options], env, BODY)
  expect(signed).toMatchObject({ code: 0, stderr: '' })
  const { code, stdout } = await runCommand(['verify', '--source', source], env, signed.stdout)
  expect(stdout).toContain(`valid: key demo-${source}`)
  expect(stdout).not.toContain(SECRET)
  expect(code).toBe(0)
})

it('a public key signs nothing: its private half is asked for, and another one is not believed', async () => {
  for (const options of [[], ['--private-key', stranger]]) {
    const { code, stdout, stderr } = await runCommand(['sign', '--source', 'ed', ...options], env, BODY)
    expect(stderr).toContain('what was signed is not believed: signature_mismatch')
    expect(stderr).toContain('--private-key')
    expect(stdout).toBe('')
    expect(code).toBe(2)
  }
})
