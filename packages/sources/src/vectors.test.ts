import type { Scheme } from '@counterfoil/core'
import { describe, expect, test } from 'vitest'
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
} from './sender-schemes.js'
import { isSnsCertificateUrl } from './sns-addresses.js'
import { createSnsScheme } from './sns-scheme.js'
import { localMaterial, readVectors, runVector, type Vector } from './testing/vectors.js'
import { googleScheme, qstashScheme } from './token-schemes.js'

const SCHEMES = new Map<string, (vector: Vector) => Scheme>([
  ['github-sha256', () => githubScheme()],
  ['stripe-v1', () => stripeScheme()],
  ['slack-v0', () => slackScheme()],
  ['shopify-sha256-base64', () => shopifyScheme()],
  ['zendesk', ({ toleranceMs }) => zendeskScheme(toleranceMs === undefined ? {} : { toleranceMs })],
  ['intercom-sha1', () => intercomScheme()],
  ['hubspot-v3', () => hubspotScheme()],
  ['hubspot-v2', () => hubspotLegacyScheme('v2')],
  ['hubspot-v1', () => hubspotLegacyScheme('v1')],
  ['twilio-sha1', () => twilioScheme()],
  ['standard-webhooks-v1', () => standardWebhooksScheme()],
  ['svix-v1', () => standardWebhooksScheme()],
  ['standard-webhooks-v1a', () => standardWebhooksPublicScheme()],
  ['cloudflare-stream', () => cloudflareScheme()],
  ['qstash', () => qstashScheme()],
  [
    'google-oidc',
    () =>
      googleScheme({
        audience: ['https://hooks.example.com/push'],
        serviceAccounts: ['push-sa@my-project.iam.gserviceaccount.com'],
      }),
  ],
  ['aws-sns', () => createSnsScheme({ topicArns: ['arn:aws:sns:us-east-1:123456789012:MyTopic'], allowSha1: true })],
])

const SENDERS = [
  'cloudflare',
  'github',
  'google',
  'hubspot',
  'intercom',
  'qstash',
  'shopify',
  'slack',
  'sns',
  'standard-webhooks',
  'stripe',
  'twilio',
  'zendesk',
]

describe.each(SENDERS)('vectors of %s', (sender) => {
  const file = readVectors(sender)

  test.each(file.vectors.map((vector) => [vector.title, vector] as const))('%s', async (_title, vector) => {
    const scheme = SCHEMES.get(vector.scheme)?.(vector)
    if (scheme === undefined) throw new Error(`no scheme ${vector.scheme}`)
    const verdict = await runVector(scheme, vector, localMaterial(file))
    if ('refused' in vector.expect) {
      expect(verdict).toMatchObject({ kind: 'refused', cause: vector.expect.refused })
    } else {
      expect(verdict).toMatchObject({ kind: 'verified' })
      if (vector.secrets !== undefined) expect(verdict).toMatchObject({ keyId: `key-${vector.expect.verifiedBy}` })
    }
  })
})

test.each(readVectors('sns').certificateUrls ?? [])('certificate URL $url: accepted $accepted', ({ url, accepted }) => {
  expect(isSnsCertificateUrl(url)).toBe(accepted)
})
