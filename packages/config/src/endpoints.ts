import type { IdempotencyDefinition, MatcherDefinition } from './definition.js'

/** What a vendor's endpoint is known to do. An owner's own fields stand over it; own matchers are asked first. */
export type Endpoint = {
  readonly idempotency: IdempotencyDefinition
  readonly matchers?: readonly MatcherDefinition[]
  /** What rests on general knowledge rather than on the vendor's documentation; said by `config check`. */
  readonly unsure?: string
}

const REPLAYED = { 'idempotent-replayed': 'true' }

/** By name. What is known of each, and how well, stands on its page in docs/destinations. */
export const ENDPOINTS = {
  stripe: {
    idempotency: { header: 'Idempotency-Key', lifetime: '24h', maxLength: 255 },
    matchers: [
      // A stored 5xx comes again for as long as the key lives; a stored 4xx is what the first request was told.
      { status: '5xx', headers: REPLAYED, outcome: 'held' },
      { status: ['400-408', '410-428', '430-499'], headers: REPLAYED, outcome: 'rejected', decidesEarlier: true },
      { status: 400, body: { '/error/type': 'idempotency_error' }, outcome: 'key_reused' },
      { status: 409, body: { '/error/code': 'idempotency_key_in_use' }, outcome: 'in_progress' },
      { status: ['400-428', '430-499', '5xx'], headers: { 'stripe-should-retry': 'true' }, outcome: 'uncertain' },
      { status: '5xx', headers: { 'stripe-should-retry': 'false' }, outcome: 'held' },
    ],
    unsure: 'the markers Idempotent-Replayed and Stripe-Should-Retry and the error names',
  },
  zendesk: {
    idempotency: { header: 'Idempotency-Key', lifetime: '2h', maxLength: 255 },
    matchers: [{ status: 400, body: { '/error': 'IdempotentRequestError' }, outcome: 'key_reused' }],
    unsure: 'the place of the error name in the body',
  },
  resend: {
    idempotency: { header: 'Idempotency-Key', lifetime: '24h', maxLength: 255 },
    matchers: [
      { status: 409, body: { '/name': 'invalid_idempotent_request' }, outcome: 'key_reused' },
      { status: 409, body: { '/name': 'concurrent_idempotent_requests' }, outcome: 'in_progress' },
    ],
  },
  adyen: {
    idempotency: { header: 'Idempotency-Key', lifetime: '7d', maxLength: 64 },
    matchers: [
      { status: ['4xx', '5xx'], headers: { 'transient-error': 'true' }, outcome: 'uncertain' },
      { status: [409, 422], body: { '/errorCode': '704' }, outcome: 'in_progress' },
      { status: 503, body: { '/errorCode': '703' }, outcome: 'uncertain' },
    ],
  },
  svix: {
    idempotency: { header: 'Idempotency-Key', lifetime: '12h', maxLength: 255 },
    unsure: 'what a 409 means',
  },
  square: {
    idempotency: { pointer: '/idempotency_key', lifetime: '24h', maxLength: 45 },
    matchers: [{ status: 400, body: { '/errors/0/code': 'IDEMPOTENCY_KEY_REUSED' }, outcome: 'key_reused' }],
    unsure: 'how long a key is remembered, how long it may be, and what a 409 means',
  },
  slack: {
    idempotency: { pointer: '/client_msg_id', lifetime: '30m', margin: '10m', form: 'uuid' },
    matchers: [
      { status: 200, body: { '/ok': true }, outcome: 'accepted' },
      { status: 200, body: { '/error': ['ratelimited', 'rate_limited'] }, outcome: 'deferred' },
      {
        status: 200,
        body: { '/error': ['invalid_auth', 'not_authed', 'account_inactive', 'token_revoked', 'token_expired'] },
        outcome: 'unauthorised',
      },
      {
        status: 200,
        body: { '/error': ['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout'] },
        outcome: 'uncertain',
      },
      { status: 200, body: { '/ok': false }, outcome: 'rejected' },
      { status: 200, outcome: 'held' },
    ],
    unsure: 'that client_msg_id makes a repeat harmless, and for how long',
  },
  pagerduty: {
    idempotency: { pointer: '/dedup_key', lifetime: '24h', maxLength: 255 },
    unsure: 'how long the alert stays open: resolved, the same key opens a new one',
  },
  opsgenie: {
    idempotency: { pointer: '/alias', lifetime: '24h', maxLength: 255 },
    unsure: 'how long the alert stays open: closed, the same alias opens a new one',
  },
  hubspotUpsert: { idempotency: 'upsert' },
  serviceNow: {
    idempotency: 'upsert',
    unsure: 'that the import set coalesces on correlation_id, which is yours to set up',
  },
  jira: { idempotency: 'none' },
  intercom: { idempotency: 'none', unsure: 'that there is no key' },
  sendgrid: { idempotency: 'none', unsure: 'that there is no key' },
  twilio: { idempotency: 'none', unsure: 'that there is no key' },
  github: { idempotency: 'none', unsure: 'that there is no key' },
  shopifyAdmin: {
    idempotency: 'none',
    matchers: [
      { status: 200, body: { '/errors/0/extensions/code': 'THROTTLED' }, outcome: 'deferred' },
      { status: 200, body: { '/errors': { exists: true } }, outcome: 'held' },
    ],
    unsure: 'where its errors stand: name user errors of your mutation by matchers of your own',
  },
} as const satisfies Readonly<Record<string, Endpoint>>

export type EndpointName = keyof typeof ENDPOINTS
export const ENDPOINT_NAMES = Object.keys(ENDPOINTS) as [EndpointName, ...EndpointName[]]

/** A definition with what its endpoint is known to do beneath it. Anything that is none yet is left to the schema. */
export function withEndpoint(given: unknown): unknown {
  if (typeof given !== 'object' || given === null) return given
  const { endpoint: name } = given as { readonly endpoint?: unknown }
  const endpoint: Endpoint | null = isEndpointName(name) ? ENDPOINTS[name] : null
  if (endpoint === null) return given
  const {
    matchers: own = [],
    idempotency,
    ...rest
  } = given as {
    readonly matchers?: unknown
    readonly idempotency?: unknown
  }
  // A list that is none is told by the schema, at its place.
  const matchers = Array.isArray(own) ? [...own, ...(endpoint.matchers ?? [])] : own
  return { ...rest, idempotency: idempotency ?? endpoint.idempotency, matchers }
}

function isEndpointName(name: unknown): name is EndpointName {
  return typeof name === 'string' && Object.hasOwn(ENDPOINTS, name)
}
