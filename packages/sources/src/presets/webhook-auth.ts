import { createStaticTokenScheme, type Scheme } from '@counterfoil/core'
import type { PresetNote } from '../preset.js'
import { type EntraOptions, entraScheme, type GoogleOptions, googleScheme } from '../token-schemes.js'
import { noteServiceAccounts, readGoogleOptions } from './google-options.js'

/** How a sender that signs nothing says who it is. */
export type WebhookAuth =
  /** A secret in a header, such as `{ header: 'authorization', prefix: 'Bearer ' }`. */
  | { readonly kind: 'header'; readonly header: string; readonly prefix?: string }
  /** A secret in the URL, where logs on the way may show it. */
  | { readonly kind: 'query'; readonly parameter: string }
  | ({ readonly kind: 'entra' } & EntraOptions)
  | ({ readonly kind: 'google' } & GoogleOptions)

export function createAuthScheme(auth: WebhookAuth): Scheme {
  switch (auth.kind) {
    case 'header':
    case 'query':
      return createStaticTokenScheme(auth)
    case 'entra':
      return entraScheme({ ...auth, audience: auth.audience ?? [], applications: auth.applications ?? [] })
    case 'google':
      return googleScheme(readGoogleOptions(auth))
  }
}

export function noteAuth(auth: WebhookAuth): readonly PresetNote[] {
  if (auth.kind === 'google') return noteServiceAccounts(auth)
  if (auth.kind === 'query') {
    const message = 'the secret stands in the URL, which proxies and logs on the way may keep; prefer a header or Entra'
    return [{ severity: 'warning', option: 'preset.auth', message }]
  }
  if (auth.kind === 'header') return []
  if ((auth.audience ?? []).length > 0 && (auth.applications ?? []).length > 0) return []
  const message = 'needs audience and applications: any application of the tenant could get a token otherwise'
  return [{ severity: 'error', option: 'preset.auth', message }]
}
