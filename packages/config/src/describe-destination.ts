import type { DestinationContract, LookupContract } from '@counterfoil/core'
import { formatDuration } from './duration.js'
import type { ResolvedHeader } from './resolve-destination.js'

export type DescribedDestination = {
  readonly name: string
  readonly headers: readonly ResolvedHeader[]
  readonly contract: DestinationContract
}

/** One destination as it is in effect; secrets as references only. */
export function describeDestination({ headers, contract }: DescribedDestination): Record<string, unknown> {
  const { idempotency, retry, timeouts } = contract
  return {
    url: redactQuery(contract.url),
    method: contract.method,
    headers: Object.fromEntries(
      headers.map((header) => [header.name, 'text' in header ? header.text : header.cell.describe()]),
    ),
    idempotency:
      idempotency.kind === 'none'
        ? 'none'
        : {
            header: idempotency.header,
            quoted: idempotency.quoted,
            lifetime: formatDuration(idempotency.lifetimeMs),
            margin: formatDuration(idempotency.marginMs),
          },
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

/** A query may carry a token. */
function redactQuery(url: string): string {
  const parsed = new URL(url)
  return parsed.search === '' ? url : `${parsed.origin}${parsed.pathname}?[redacted]`
}
