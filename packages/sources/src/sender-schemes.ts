import { createEd25519Scheme, createHmacScheme, type PromptScheme, type SignatureHeaders } from '@counterfoil/core'
import { decodeHubspotUrl } from './decode-hubspot-url.js'

/** How far a signed time may be off, ms; default five minutes. */
export type Tolerance = { readonly toleranceMs?: number | null }

const toleranceOf = ({ toleranceMs }: Tolerance) => (toleranceMs === undefined ? {} : { toleranceMs })
const PREFIXED = (prefix: string) => ({ kind: 'single', prefix }) as const

/** `svix-*` are the same headers under the name of their inventor. */
const STANDARD_WEBHOOKS_HEADERS: readonly SignatureHeaders[] = ['webhook', 'svix'].map((family) => ({
  id: `${family}-id`,
  timestamp: `${family}-timestamp`,
  signature: `${family}-signature`,
}))
const STANDARD_WEBHOOKS_PARTS = ['id', { text: '.' }, 'timestamp', { text: '.' }, 'body'] as const

/** Standard Webhooks and Svix, symmetric: `whsec_` keys. */
export function standardWebhooksScheme(options: Tolerance = {}): PromptScheme {
  return createHmacScheme({
    parts: STANDARD_WEBHOOKS_PARTS,
    headers: STANDARD_WEBHOOKS_HEADERS,
    grammar: { kind: 'list', separator: ' ', prefix: 'v1,' },
    encoding: 'base64',
    keyEncoding: 'whsec',
    ...toleranceOf(options),
  })
}

/** Standard Webhooks, asymmetric: `whpk_` keys. Never falls back to `v1`. */
export function standardWebhooksPublicScheme(options: Tolerance = {}): PromptScheme {
  return createEd25519Scheme({
    parts: STANDARD_WEBHOOKS_PARTS,
    headers: STANDARD_WEBHOOKS_HEADERS,
    grammar: { kind: 'list', separator: ' ', prefix: 'v1a,' },
    encoding: 'base64',
    keyEncoding: 'whpk',
    ...toleranceOf(options),
  })
}

export function githubScheme(): PromptScheme {
  return createHmacScheme({
    parts: ['body'],
    headers: { signature: 'x-hub-signature-256' },
    grammar: PREFIXED('sha256='),
  })
}

/** The key is the whole `whsec_…` as text. */
export function stripeScheme(options: Tolerance = {}): PromptScheme {
  return createHmacScheme({
    parts: ['timestamp', { text: '.' }, 'body'],
    headers: { signature: 'stripe-signature' },
    grammar: { kind: 'pairs', separator: ',', signature: 'v1', timestamp: 't' },
    ...toleranceOf(options),
  })
}

export function slackScheme(options: Tolerance = {}): PromptScheme {
  return createHmacScheme({
    parts: [{ text: 'v0:' }, 'timestamp', { text: ':' }, 'body'],
    headers: { signature: 'x-slack-signature', timestamp: 'x-slack-request-timestamp' },
    grammar: PREFIXED('v0='),
    ...toleranceOf(options),
  })
}

/** Events webhooks use the same names without `X-`. */
export function shopifyScheme(): PromptScheme {
  return createHmacScheme({
    parts: ['body'],
    headers: [{ signature: 'x-shopify-hmac-sha256' }, { signature: 'shopify-hmac-sha256' }],
    grammar: PREFIXED(''),
    encoding: 'base64',
  })
}

/** The secret looks like base64 and is used as text. */
export function zendeskScheme(options: Tolerance = {}): PromptScheme {
  return createHmacScheme({
    parts: ['timestamp', 'body'],
    headers: { signature: 'x-zendesk-webhook-signature', timestamp: 'x-zendesk-webhook-signature-timestamp' },
    grammar: PREFIXED(''),
    encoding: 'base64',
    timestampUnit: 'iso',
    ...toleranceOf(options),
  })
}

/** SHA-1: Intercom has nothing better. */
export function intercomScheme(): PromptScheme {
  return createHmacScheme({
    algorithm: 'sha1',
    parts: ['body'],
    headers: { signature: 'x-hub-signature' },
    grammar: PREFIXED('sha1='),
  })
}

export function hubspotScheme(options: Tolerance = {}): PromptScheme {
  return createHmacScheme({
    parts: ['method', 'url', 'body', 'timestamp'],
    headers: { signature: 'x-hubspot-signature-v3', timestamp: 'x-hubspot-request-timestamp' },
    grammar: PREFIXED(''),
    encoding: 'base64',
    timestampUnit: 'ms',
    urlText: decodeHubspotUrl,
    ...toleranceOf(options),
  })
}

/** HubSpot's older signatures: a plain hash, no time, and `v1` without the URL. Only for apps that can't change. */
export function hubspotLegacyScheme(version: 'v1' | 'v2'): PromptScheme {
  return createHmacScheme({
    construction: 'secret_prefix',
    parts: version === 'v1' ? ['body'] : ['method', 'url', 'body'],
    headers: { signature: 'x-hubspot-signature' },
    grammar: PREFIXED(''),
  })
}

/** Cloudflare Stream and its siblings. */
export function cloudflareScheme(options: Tolerance = {}): PromptScheme {
  return createHmacScheme({
    parts: ['timestamp', { text: '.' }, 'body'],
    headers: { signature: 'webhook-signature' },
    grammar: { kind: 'pairs', separator: ',', signature: 'sig1', timestamp: 'time' },
    ...toleranceOf(options),
  })
}

export { createTwilioScheme as twilioScheme } from '@counterfoil/core'
