import type { DestinationAuth, DestinationTls } from '@counterfoil/core'
import type { AuthParts, TlsParts } from './auth-schema.js'
import { MIN_SECRET_BYTES } from './defaults.js'
import { formatPath } from './format-path.js'
import type { SecretRule } from './read-secret.js'
import type { SecretRef } from './secret.js'
import type { SecretCell, SecretStore } from './secret-store.js'

/** What is used, and the same fit to be printed. */
export type ResolvedAuth = { readonly auth: DestinationAuth; readonly shown: Record<string, unknown> }
export type ResolvedTls = { readonly tls: DestinationTls; readonly shown: Record<string, unknown> }

const IN_HEADER: SecretRule = { minBytes: 1, inHeader: true }
const ANY: SecretRule = { minBytes: 1, inHeader: false }
const SIGNING: SecretRule = { minBytes: MIN_SECRET_BYTES, inHeader: false }
const WEBHOOK_KEY: SecretRule = { ...SIGNING, keyEncoding: 'whsec' }

/** Secrets stay behind readers, so that a reloaded one is used by the next request. */
export function resolveAuth(path: string, parts: AuthParts, secrets: SecretStore): ResolvedAuth {
  const read = (at: readonly (string | number)[], ref: SecretRef, rule: SecretRule): SecretCell =>
    secrets.read(formatPath(path, ['auth', ...at]), ref, rule)
  if (parts.bearer !== undefined) {
    const cell = read(['bearer'], parts.bearer, IN_HEADER)
    return { auth: { kind: 'bearer', token: cell.bytes }, shown: { bearer: cell.describe() } }
  }
  if (parts.basic !== undefined) {
    const { user } = parts.basic
    const cell = read(['basic', 'password'], parts.basic.password, ANY)
    return {
      auth: { kind: 'basic', user, password: cell.bytes },
      shown: { basic: { user, password: cell.describe() } },
    }
  }
  if (parts.standardWebhooks !== undefined) {
    const cells = parts.standardWebhooks.secrets.map((ref, index) =>
      read(['standardWebhooks', 'secrets', index], ref, WEBHOOK_KEY),
    )
    return {
      auth: { kind: 'standard_webhooks', keys: cells.map((cell) => cell.bytes) },
      shown: { standardWebhooks: { secrets: cells.map((cell) => cell.describe()) } },
    }
  }
  if (parts.oauth2 !== undefined) return resolveOAuth2(parts.oauth2, read)
  return resolveHmac(parts.hmac as NonNullable<AuthParts['hmac']>, read)
}

type Read = (at: readonly (string | number)[], ref: SecretRef, rule: SecretRule) => SecretCell

function resolveHmac(parts: NonNullable<AuthParts['hmac']>, read: Read): ResolvedAuth {
  const cell = read(['hmac', 'secret'], parts.secret, SIGNING)
  const { header, prefix = '', encoding = 'hex', algorithm = 'sha256', timestampHeader = null } = parts
  const form = { header, prefix, encoding, algorithm, timestampHeader }
  return {
    auth: { kind: 'hmac', ...form, key: cell.bytes },
    shown: { hmac: { secret: cell.describe(), ...form } },
  }
}

function resolveOAuth2(parts: NonNullable<AuthParts['oauth2']>, read: Read): ResolvedAuth {
  const cell = read(['oauth2', 'clientSecret'], parts.clientSecret, ANY)
  const { tokenUrl, clientId, scope = null, audience = null, sendAs = 'basic' } = parts
  const form = { tokenUrl, clientId, scope, audience, sendAs }
  return {
    auth: { kind: 'oauth2', ...form, clientSecret: cell.bytes },
    shown: { oauth2: { ...form, tokenUrl: tokenUrl.replace(/\?.*/s, '?[redacted]'), clientSecret: cell.describe() } },
  }
}

export function resolveTls(path: string, parts: TlsParts, secrets: SecretStore): ResolvedTls {
  const cells = Object.fromEntries(
    (['cert', 'key', 'ca'] as const).flatMap((name) => {
      const ref = parts[name]
      return ref === undefined ? [] : [[name, secrets.read(formatPath(path, ['tls', name]), ref, ANY)]]
    }),
  ) as Partial<Record<'cert' | 'key' | 'ca', SecretCell>>
  return {
    tls: { cert: cells.cert?.bytes ?? null, key: cells.key?.bytes ?? null, ca: cells.ca?.bytes ?? null },
    shown: Object.fromEntries(Object.entries(cells).map(([name, cell]) => [name, cell.describe()])),
  }
}
