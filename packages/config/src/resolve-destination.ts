import { DEFAULT_KEY_RULE, type DestinationContract, type KeyRule } from '@counterfoil/core'
import { DEFAULTS } from './defaults.js'
import type { DestinationParts } from './destination-schema.js'
import { formatPath } from './format-path.js'
import { type ResolvedAuth, type ResolvedTls, resolveAuth, resolveTls } from './resolve-auth.js'
import { resolveLookup } from './resolve-lookup.js'
import { resolveMatcher } from './resolve-matcher.js'
import type { SecretCell, SecretStore } from './secret-store.js'

/** A header whose value is a text, or a secret with what stands before it. */
export type ResolvedHeader =
  | { readonly name: string; readonly text: string }
  | { readonly name: string; readonly prefix: string; readonly cell: SecretCell }

function resolveHeaders(path: string, parts: DestinationParts, secrets: SecretStore): readonly ResolvedHeader[] {
  return Object.entries(parts.headers ?? {}).map(([name, value]) => {
    if (typeof value === 'string') return { name, text: value }
    const cell = secrets.read(formatPath(path, ['headers', name]), value, { minBytes: 1, inHeader: true })
    return { name, prefix: value.prefix ?? '', cell }
  })
}

/** How we get in at a destination. */
export type ResolvedAccess = {
  readonly headers: readonly ResolvedHeader[]
  readonly auth: ResolvedAuth | null
  readonly tls: ResolvedTls | null
}

export function resolveAccess(path: string, parts: DestinationParts, secrets: SecretStore): ResolvedAccess {
  return {
    headers: resolveHeaders(path, parts, secrets),
    auth: parts.auth === undefined ? null : resolveAuth(path, parts.auth, secrets),
    tls: parts.tls === undefined ? null : resolveTls(path, parts.tls, secrets),
  }
}

/** How keys for this destination are frozen. */
export function resolveKeyRule({ idempotency }: DestinationParts): KeyRule {
  if (typeof idempotency === 'string') return DEFAULT_KEY_RULE
  const { maxLength = DEFAULT_KEY_RULE.maxLength, form = DEFAULT_KEY_RULE.form } = idempotency
  return { maxLength, form, pointer: 'pointer' in idempotency ? idempotency.pointer : null }
}

export function resolveDestination(
  name: string,
  parts: DestinationParts,
  { headers, auth, tls }: ResolvedAccess,
): DestinationContract {
  const timeouts = resolveTimeouts(parts.timeouts ?? {})
  const { retry = {} } = parts
  const { destination } = DEFAULTS
  const readHeaders = createHeaderReader(headers)
  return {
    name,
    url: parts.url,
    method: parts.method ?? destination.method,
    get headers() {
      return readHeaders()
    },
    auth: auth?.auth ?? null,
    tls: tls?.tls ?? null,
    idempotency: resolveIdempotency(parts.idempotency),
    timeouts,
    leaseMs: parts.lease ?? timeouts.totalMs + destination.leaseSpareMs,
    concurrency: parts.concurrency ?? destination.concurrency,
    responseCapBytes: parts.responseCap ?? destination.responseCapBytes,
    allowPrivate: parts.allowPrivate ?? false,
    retry: {
      firstMs: retry.first ?? destination.retry.firstMs,
      capMs: retry.cap ?? destination.retry.capMs,
      maxAttempts: retry.maxAttempts ?? destination.retry.maxAttempts,
      maxAgeMs: retry.maxAge ?? destination.retry.maxAgeMs,
      maxRetryAfterMs: retry.maxRetryAfter ?? destination.retry.maxRetryAfterMs,
    },
    ...(parts.lookup === undefined ? {} : { lookup: resolveLookup(parts.lookup) }),
    ...(parts.reviewWindow === undefined ? {} : { reviewWindowMs: parts.reviewWindow }),
    matchers: (parts.matchers ?? []).map(resolveMatcher),
    replayMarkers: resolveReplayMarkers(parts),
  }
}

/** Parts that nobody gave are cut to the total, so that naming only a short total is enough. */
function resolveTimeouts(given: NonNullable<DestinationParts['timeouts']>): DestinationContract['timeouts'] {
  const { connectMs, headersMs, bodyMs } = DEFAULTS.destination
  const cap = given.total ?? Number.POSITIVE_INFINITY
  const connect = given.connect ?? Math.min(connectMs, cap)
  const headers = given.headers ?? Math.min(headersMs, cap)
  const body = given.body ?? Math.min(bodyMs, cap)
  return { connectMs: connect, headersMs: headers, bodyMs: body, totalMs: given.total ?? connect + headers + body }
}

function resolveIdempotency(given: DestinationParts['idempotency']): DestinationContract['idempotency'] {
  if (typeof given === 'string') return { kind: given }
  const { lifetime: lifetimeMs, margin: marginMs = DEFAULTS.destination.keyMarginMs } = given
  if ('pointer' in given) return { kind: 'body', pointer: given.pointer, lifetimeMs, marginMs }
  return { kind: 'header', header: given.header, quoted: given.quoted ?? false, lifetimeMs, marginMs }
}

/** Without a key nothing can be replayed, so nothing has to be looked for. */
function resolveReplayMarkers(parts: DestinationParts): DestinationContract['replayMarkers'] {
  if (parts.replayMarkers !== undefined) {
    return parts.replayMarkers.map(({ header, value }) => ({ header, value: value ?? null }))
  }
  return typeof parts.idempotency === 'string' ? [] : DEFAULTS.destination.replayMarkers
}

/** Read at every attempt, so that a reloaded secret is used by the next one: made anew only when a secret has changed. */
function createHeaderReader(headers: readonly ResolvedHeader[]): () => Readonly<Record<string, string>> {
  const cells = headers.flatMap((header) => ('cell' in header ? [header.cell] : []))
  let made: Readonly<Record<string, string>> | null = null
  let madeOf: readonly Buffer[] = []
  return () => {
    if (made === null || !cells.every((cell, index) => cell.bytes() === madeOf[index])) {
      madeOf = cells.map((cell) => cell.bytes())
      made = Object.fromEntries(headers.map((header) => [header.name, headerValue(header)]))
    }
    return made
  }
}

function headerValue(header: ResolvedHeader): string {
  return 'text' in header ? header.text : `${header.prefix}${header.cell.bytes().toString('latin1')}`
}
