import type { Scheme } from '@counterfoil/core'
import { createJwtScheme } from './jwt-scheme.js'

const BEARER = { header: 'authorization', scheme: 'Bearer' } as const
const GOOGLE_KEYS = 'https://www.googleapis.com/oauth2/v3/certs'
const GOOGLE_ISSUERS = ['https://accounts.google.com', 'accounts.google.com'] as const
const TENANT = /^[0-9a-zA-Z.-]{1,128}$/

/** QStash's retries carry a new token each, so that seconds are enough. */
const QSTASH_TOLERANCE_MS = 5_000
/** Google's own libraries allow less; clocks of virtual machines are seldom better. */
const OIDC_TOLERANCE_MS = 30_000

/** QStash: HS256, the URL in `sub`, and the hash of the body. */
export function qstashScheme(options: { readonly clockToleranceMs?: number } = {}): Scheme {
  return createJwtScheme({
    token: { header: 'upstash-signature', scheme: null },
    keys: { kind: 'shared', algorithm: 'HS256' },
    issuers: ['Upstash'],
    audience: null,
    subject: 'public_url',
    required: [],
    bodyHashClaim: 'body',
    clockToleranceMs: options.clockToleranceMs ?? QSTASH_TOLERANCE_MS,
  })
}

export type GoogleOptions = {
  /** Exactly as configured at the sender. Default: the public URL. */
  readonly audience?: readonly string[]
  /** Without them the token of any Google account for this audience would do. */
  readonly serviceAccounts: readonly string[]
  readonly clockToleranceMs?: number
  /** Another place of the key set, for tests and emulators. */
  readonly keySetUrl?: string
}

/** Google's OIDC tokens: Pub/Sub, Cloud Tasks, Scheduler, Eventarc. Bound to the sender, not to the message. */
export function googleScheme(options: GoogleOptions): Scheme {
  return createJwtScheme({
    token: BEARER,
    keys: { kind: 'published', url: options.keySetUrl ?? GOOGLE_KEYS, algorithms: ['RS256'] },
    issuers: GOOGLE_ISSUERS,
    audience: options.audience ?? 'public_url',
    subject: null,
    required: [
      { names: ['email'], values: options.serviceAccounts },
      { names: ['email_verified'], values: [true] },
    ],
    bodyHashClaim: null,
    clockToleranceMs: options.clockToleranceMs ?? OIDC_TOLERANCE_MS,
  })
}

export type EntraOptions = {
  readonly tenant: string
  readonly audience: readonly string[]
  /** Application ids of the sender: `azp` in tokens of version 2, `appid` in those of version 1. */
  readonly applications: readonly string[]
  readonly clockToleranceMs?: number
  readonly keySetUrl?: string
}

/** Microsoft Entra's tokens: Event Grid and whatever else signs in as an application. */
export function entraScheme(options: EntraOptions): Scheme {
  if (!TENANT.test(options.tenant)) throw new TypeError('an Entra tenant is an id or a domain')
  const keys = `https://login.microsoftonline.com/${options.tenant}/discovery/v2.0/keys`
  return createJwtScheme({
    token: BEARER,
    keys: { kind: 'published', url: options.keySetUrl ?? keys, algorithms: ['RS256'] },
    issuers: [`https://login.microsoftonline.com/${options.tenant}/v2.0`, `https://sts.windows.net/${options.tenant}/`],
    audience: options.audience,
    subject: null,
    required: [{ names: ['azp', 'appid'], values: options.applications }],
    bodyHashClaim: null,
    clockToleranceMs: options.clockToleranceMs ?? OIDC_TOLERANCE_MS,
  })
}
