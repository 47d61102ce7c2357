import {
  DEFAULT_TOLERANCE_MS,
  type DestinationContract,
  type SourceContract,
  type Transition,
  type ValueAt,
} from '@counterfoil/core'
import { formatDuration } from './duration.js'
import type { ResolvedHeader } from './resolve-destination.js'
import type { ResolvedKey } from './resolve-source.js'
import type { SecretCell } from './secret-store.js'
import type { SourceParts } from './source-schema.js'

export type Described = {
  readonly sources: readonly {
    readonly name: string
    readonly parts: SourceParts
    readonly keys: readonly ResolvedKey[]
    readonly contract: SourceContract
  }[]
  readonly destinations: readonly {
    readonly name: string
    readonly headers: readonly ResolvedHeader[]
    readonly contract: DestinationContract
  }[]
  readonly operators: readonly { readonly name: string; readonly cell: SecretCell }[]
  readonly transitions: readonly (readonly [string, Transition])[]
}

/** What is in effect, defaults included, fit to be printed: secrets appear as references only. */
export function describeConfig(described: Described): Record<string, unknown> {
  return {
    sources: fromNamed(described.sources, describeSource),
    destinations: fromNamed(described.destinations, describeDestination),
    operators: fromNamed(described.operators, ({ cell }) => ({ token: cell.describe() })),
    transitions: Object.fromEntries(
      described.transitions.map(([name, transition]) => [name, describeTransition(transition)]),
    ),
  }
}

function describeSource({ parts, keys, contract }: Described['sources'][number]): Record<string, unknown> {
  const { ack } = contract
  return {
    path: contract.path,
    publicUrl: contract.publicUrl,
    verify: describeScheme(parts.verify),
    keys: keys.map(({ id, notBefore, notAfter, cell }) => ({
      id,
      secret: cell.describe(),
      notBefore: notBefore === undefined ? null : new Date(notBefore).toISOString(),
      notAfter: notAfter === undefined ? null : new Date(notAfter).toISOString(),
    })),
    deliveryId: contract.deliveryId.kind === 'body_digest' ? 'body-digest' : describePlace(contract.deliveryId),
    eventType:
      contract.eventType?.kind === 'fixed' ? { fixed: contract.eventType.value } : describePlace(contract.eventType),
    senderAttempt: describePlace(contract.senderAttempt),
    volatile: contract.volatilePointers,
    maxAge: contract.maxAge && { pointer: contract.maxAge.pointer, age: formatDuration(contract.maxAge.ms) },
    bodyLimit: contract.bodyLimitBytes,
    redeliveryHorizon: formatDuration(contract.redeliveryHorizonMs),
    ack: {
      status: ack.status,
      body: ack.body === null ? null : 'function',
      deadline: formatDuration(ack.deadlineMs),
      senderTimeout: formatDuration(ack.senderTimeoutMs),
      onConflict: ack.onConflict,
      onMalformed: ack.onMalformed,
    },
    routes: Object.fromEntries(Object.entries(parts.routes).map(([type, route]) => [type, describeRoute(route)])),
    otherwise: parts.otherwise === undefined ? 'ignored' : describeRoute(parts.otherwise),
  }
}

function describeDestination({ headers, contract }: Described['destinations'][number]): Record<string, unknown> {
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
  }
}

function describeScheme(scheme: SourceParts['verify']): Record<string, unknown> {
  const { scheme: name, signatureHeader, prefix = '', encoding = 'hex' } = scheme
  if (scheme.scheme === 'hmac_body') return { scheme: name, signatureHeader, prefix, encoding }
  const { timestampHeader, timestampUnit = 's', tolerance = DEFAULT_TOLERANCE_MS } = scheme
  return {
    scheme: name,
    signatureHeader,
    prefix,
    encoding,
    timestampHeader,
    timestampUnit,
    tolerance: formatDuration(tolerance),
  }
}

function describeRoute(route: SourceParts['routes'][string]): Record<string, unknown> {
  return {
    schema: route.schema !== undefined,
    transition: route.transition && {
      use: route.transition.use.name,
      guard: route.transition.guard !== undefined,
      notDue: route.transition.notDue,
    },
    actions: route.actions !== undefined,
  }
}

function describeTransition(transition: Transition): Record<string, unknown> {
  if (transition.kind === 'custom') return { kind: 'custom' }
  const { table, idColumn, stateColumn, from, to, dueAtColumn, sweep } = transition
  return {
    kind: 'conditional_update',
    table,
    idColumn,
    stateColumn,
    from,
    to,
    dueAtColumn,
    sweep: sweep && { every: formatDuration(sweep.everyMs), grace: formatDuration(sweep.graceMs), batch: sweep.batch },
  }
}

function describePlace(at: ValueAt | { readonly kind: string } | null): Record<string, string> | null {
  if (at === null) return null
  if ('header' in at) return { header: at.header }
  return 'pointer' in at ? { pointer: at.pointer } : null
}

/** A query may carry a token. */
function redactQuery(url: string): string {
  const parsed = new URL(url)
  return parsed.search === '' ? url : `${parsed.origin}${parsed.pathname}?[redacted]`
}

function fromNamed<T extends { readonly name: string }>(
  entries: readonly T[],
  describe: (entry: T) => Record<string, unknown>,
): Record<string, unknown> {
  return Object.fromEntries(entries.map((entry) => [entry.name, describe(entry)]))
}
