import type { AnswerMatcher, DestinationContract, KeyRule, LookupContract } from '@counterfoil/core'
import type { DestinationParts } from './destination-schema.js'
import { formatDuration } from './duration.js'
import type { ResolvedAccess } from './resolve-destination.js'

export type DescribedDestination = {
  readonly name: string
  readonly parts: DestinationParts
  readonly access: ResolvedAccess
  readonly keyRule: KeyRule
  readonly contract: DestinationContract
}

/** One destination as it is in effect; secrets as references only. */
export function describeDestination(described: DescribedDestination): Record<string, unknown> {
  const { parts, access, contract } = described
  const { headers, auth, tls } = access
  const { retry, timeouts } = contract
  return {
    ...(parts.endpoint === undefined ? {} : { endpoint: parts.endpoint }),
    url: redactQuery(contract.url),
    method: contract.method,
    headers: Object.fromEntries(
      headers.map((header) => [header.name, 'text' in header ? header.text : header.cell.describe()]),
    ),
    auth: auth?.shown ?? null,
    tls: tls?.shown ?? null,
    idempotency: describeIdempotency(described),
    timeouts: {
      connect: formatDuration(timeouts.connectMs),
      headers: formatDuration(timeouts.headersMs),
      body: formatDuration(timeouts.bodyMs),
      total: formatDuration(timeouts.totalMs),
    },
    lease: formatDuration(contract.leaseMs),
    concurrency: contract.concurrency,
    responseCap: contract.responseCapBytes,
    allowPrivate: contract.allowPrivate,
    retry: {
      first: formatDuration(retry.firstMs),
      cap: formatDuration(retry.capMs),
      maxAttempts: retry.maxAttempts,
      maxAge: formatDuration(retry.maxAgeMs),
      maxRetryAfter: formatDuration(retry.maxRetryAfterMs),
    },
    matchers: contract.matchers.map(describeMatcher),
    replayMarkers: contract.replayMarkers,
    lookup: contract.lookup === undefined ? 'none' : describeLookup(contract.lookup),
    reviewWindow: contract.reviewWindowMs === undefined ? 'not named' : formatDuration(contract.reviewWindowMs),
  }
}

/** Its query may carry a token as well; placeholders are names only. */
function describeLookup(lookup: LookupContract): Record<string, unknown> {
  const [path = ''] = lookup.target.split('?', 1)
  return {
    method: lookup.method,
    target: path === lookup.target ? path : `${path}?[redacted]`,
    rules: lookup.rules.length,
    grace: formatDuration(lookup.graceMs),
    first: formatDuration(lookup.firstMs),
    cap: formatDuration(lookup.capMs),
    maxProbes: lookup.maxProbes,
    concurrency: lookup.concurrency,
    didNot: lookup.didNot,
  }
}

function describeIdempotency({ keyRule, contract }: DescribedDestination): unknown {
  const { idempotency } = contract
  if (idempotency.kind === 'none' || idempotency.kind === 'upsert') return idempotency.kind
  const { lifetimeMs, marginMs, kind, ...place } = idempotency
  return {
    ...place,
    lifetime: formatDuration(lifetimeMs),
    margin: formatDuration(marginMs),
    maxLength: keyRule.maxLength,
    form: keyRule.form,
  }
}

function describeMatcher({ statuses, headers, body, verdict }: AnswerMatcher): Record<string, unknown> {
  return {
    ...(statuses.length === 0 ? {} : { statuses }),
    ...(headers.length === 0 ? {} : { headers }),
    ...(body.length === 0 ? {} : { body }),
    verdict,
  }
}

/** A query may carry a token. */
function redactQuery(url: string): string {
  const parsed = new URL(url)
  return parsed.search === '' ? url : `${parsed.origin}${parsed.pathname}?[redacted]`
}
