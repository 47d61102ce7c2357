import { generateKeyPairSync } from 'node:crypto'
import {
  createStaticTokenScheme,
  type KeyMaterial,
  NO_KEY_MATERIAL,
  type Scheme,
  type SigningKey,
  type UnsignedPush,
} from '@counterfoil/core'
import {
  createSnsScheme,
  googleScheme,
  qstashScheme,
  standardWebhooksPublicScheme,
  standardWebhooksScheme,
  stripeScheme,
  twilioScheme,
} from '@counterfoil/sources'
import { makeCertificate, publishKey } from '@counterfoil/testkit'

/** One way to verify, with both halves of its key and a push of any size. */
export type FamilyCase = {
  readonly family: string
  readonly scheme: Pick<Scheme, 'verify' | 'sign'>
  readonly signingKey: SigningKey
  readonly keys: readonly SigningKey[]
  readonly material: KeyMaterial
  readonly push: (bodyBytes: number) => UnsignedPush
}

const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:bench'
const SHARED: SigningKey = { id: 'k1', secret: Buffer.from('bench-secret-that-guards-nothing') }
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ed25519 = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
const rsaKey: SigningKey = { id: 'rsa-1', secret: Buffer.from(rsa.privateKey.export({ format: 'pem', type: 'pkcs8' })) }

/** As in a running receiver: fetched before, and at hand. */
const certificate = { kind: 'found', pem: makeCertificate(rsa, 'bench') } as const
const keySet = { kind: 'found', keys: [publishKey(rsa.publicKey, 'rsa-1')] } as const
const fetched: KeyMaterial = { keySet: () => keySet, certificate: () => certificate }

const pad = (bytes: number, around: number) => 'x'.repeat(Math.max(0, bytes - around))

function pushOf(body: string, contentType = 'application/json'): UnsignedPush {
  const headers = { 'content-type': contentType, 'webhook-id': 'msg_1' }
  return { method: 'POST', publicUrl: 'https://hooks.example.test/in', headers, rawBody: Buffer.from(body) }
}

const jsonPush = (bytes: number) => pushOf(`{"pad":"${pad(bytes, 10)}"}`)
const formPush = (bytes: number) =>
  pushOf(`MessageSid=SM1&SmsStatus=sent&Body=${pad(bytes, 39)}`, 'application/x-www-form-urlencoded')
/** The envelope alone has about 700 bytes, of which the signature is half. */
const snsPush = (bytes: number) => pushOf(JSON.stringify({ MessageId: 'm1', Message: pad(bytes, 0) }), 'text/plain')

const shared = (family: string, scheme: FamilyCase['scheme'], push = jsonPush): FamilyCase => ({
  family,
  scheme,
  signingKey: SHARED,
  keys: [SHARED],
  material: NO_KEY_MATERIAL,
  push,
})

export const FAMILY_CASES: readonly FamilyCase[] = [
  shared('hmac (stripe)', stripeScheme()),
  shared('hmac (standardWebhooks)', standardWebhooksScheme()),
  {
    ...shared('ed25519 (standardWebhooks)', standardWebhooksPublicScheme()),
    signingKey: { id: 'e1', secret: Buffer.from(ed25519.d ?? '', 'base64url') },
    keys: [{ id: 'e1', secret: Buffer.from(ed25519.x ?? '', 'base64url') }],
  },
  shared('twilio (form)', twilioScheme(), formPush),
  shared('twilio (hash of the body)', twilioScheme()),
  shared('jwt HS256 + body hash (qstash)', qstashScheme()),
  {
    ...shared('jwt RS256, sender only (pubsub)', googleScheme({ serviceAccounts: ['a@b.test'] })),
    signingKey: rsaKey,
    keys: [],
    material: fetched,
  },
  {
    ...shared('sns (RSA over decoded values)', createSnsScheme({ topicArns: [TOPIC], allowSha1: false }), snsPush),
    signingKey: rsaKey,
    keys: [],
    material: fetched,
  },
  shared('static token, sender only', createStaticTokenScheme({ kind: 'header', header: 'x-api-key' })),
]
