import { generateKeyPairSync, type JsonWebKey } from 'node:crypto'
import {
  createStaticTokenScheme,
  type KeyMaterial,
  NO_KEY_MATERIAL,
  type PromptScheme,
  type Scheme,
  type SigningKey,
  type UnsignedPush,
} from '@counterfoil/core'
import {
  cloudflareScheme,
  githubScheme,
  hubspotLegacyScheme,
  hubspotScheme,
  intercomScheme,
  shopifyScheme,
  slackScheme,
  standardWebhooksPublicScheme,
  standardWebhooksScheme,
  stripeScheme,
  twilioScheme,
  zendeskScheme,
} from '../sender-schemes.js'
import { entraScheme, googleScheme, qstashScheme } from '../token-schemes.js'

/** A scheme with both halves of its key: what signs, what verifies, and what is fetched. */
export type SigningCase = {
  readonly name: string
  readonly scheme: Scheme | PromptScheme
  readonly signingKey: SigningKey
  readonly keys: readonly SigningKey[]
  readonly material: KeyMaterial
  /** Headers that the signature covers: any other byte in one of them is refused. */
  readonly signedHeaders: readonly string[]
  readonly push: (body: Buffer) => UnsignedPush
}

export const NOW = 1_767_225_600_000
export const PUBLIC_URL = 'https://hooks.example.test/hooks/q?x=1'
const SHARED: SigningKey = { id: 'k1', secret: Buffer.from('correct horse battery staple 0123456789') }

const ed25519 = generateKeyPairSync('ed25519')
const ed25519Jwk = ed25519.privateKey.export({ format: 'jwk' })
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const rsaJwk: JsonWebKey = { ...rsa.publicKey.export({ format: 'jwk' }), kid: 'rsa-1', use: 'sig' }
const rsaPem = rsa.privateKey.export({ format: 'pem', type: 'pkcs8' })

export const rsaSigningKey: SigningKey = { id: 'rsa-1', secret: Buffer.from(rsaPem) }
export const rsaMaterial: KeyMaterial = {
  ...NO_KEY_MATERIAL,
  keySet: () => ({ kind: 'found', keys: [rsaJwk] }),
}

function plainPush(body: Buffer): UnsignedPush {
  const headers = { 'content-type': 'application/json', 'webhook-id': 'msg_1' }
  return { method: 'POST', publicUrl: PUBLIC_URL, headers, rawBody: body }
}

function shared(name: string, scheme: SigningCase['scheme'], signedHeaders: readonly string[]): SigningCase {
  return { name, scheme, signingKey: SHARED, keys: [SHARED], material: NO_KEY_MATERIAL, signedHeaders, push: plainPush }
}

function published(name: string, scheme: SigningCase['scheme']): SigningCase {
  const base = shared(name, scheme, ['authorization'])
  return { ...base, signingKey: rsaSigningKey, keys: [], material: rsaMaterial }
}

export const GOOGLE = {
  audience: ['https://hooks.example.com/push'],
  serviceAccounts: ['push@project.iam.gserviceaccount.com'],
}

export const SIGNING_CASES: readonly SigningCase[] = [
  shared('standard webhooks', standardWebhooksScheme(), ['webhook-id', 'webhook-timestamp', 'webhook-signature']),
  {
    ...shared('standard webhooks, asymmetric', standardWebhooksPublicScheme(), [
      'webhook-id',
      'webhook-timestamp',
      'webhook-signature',
    ]),
    signingKey: { id: 'e1', secret: Buffer.from(ed25519Jwk.d ?? '', 'base64url') },
    keys: [{ id: 'e1', secret: Buffer.from(ed25519Jwk.x ?? '', 'base64url') }],
  },
  shared('github', githubScheme(), ['x-hub-signature-256']),
  shared('stripe', stripeScheme(), ['stripe-signature']),
  shared('slack', slackScheme(), ['x-slack-signature', 'x-slack-request-timestamp']),
  shared('shopify', shopifyScheme(), ['x-shopify-hmac-sha256']),
  shared('zendesk', zendeskScheme(), ['x-zendesk-webhook-signature', 'x-zendesk-webhook-signature-timestamp']),
  shared('intercom', intercomScheme(), ['x-hub-signature']),
  shared('hubspot', hubspotScheme(), ['x-hubspot-signature-v3', 'x-hubspot-request-timestamp']),
  shared('hubspot v2', hubspotLegacyScheme('v2'), ['x-hubspot-signature']),
  shared('cloudflare', cloudflareScheme(), ['webhook-signature']),
  shared('twilio, JSON', twilioScheme(), ['x-twilio-signature']),
  shared('token in a header', createStaticTokenScheme({ kind: 'header', header: 'x-api-key' }), ['x-api-key']),
  shared('token in the query', createStaticTokenScheme({ kind: 'query', parameter: 'key' }), []),
  shared('basic', createStaticTokenScheme({ kind: 'basic' }), ['authorization']),
  shared('qstash', qstashScheme(), ['upstash-signature']),
  published('google', googleScheme(GOOGLE)),
  published('entra', entraScheme({ tenant: 'contoso', audience: ['api://counterfoil'], applications: ['app-1'] })),
]
