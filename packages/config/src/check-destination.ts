import type { DestinationContract } from '@counterfoil/core'
import { checkAuth } from './check-auth.js'
import { checkLookup } from './check-lookup.js'
import { checkMatchers } from './check-matchers.js'
import { checkReviewWindow } from './check-review-window.js'
import { isLoopbackHost } from './check-source.js'
import { LEASE_MARGIN_MS } from './defaults.js'
import type { DestinationParts } from './destination-schema.js'
import { formatDuration } from './duration.js'
import { ENDPOINTS, type Endpoint } from './endpoints.js'
import { formatPath } from './format-path.js'
import { type ConfigProblem, error, warning } from './problem.js'

/** Headers that the sender of a request sets itself. */
const RESERVED = new Set([
  'connection',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
/** Headers whose value is always a credential. */
const CREDENTIALS = new Set(['authorization', 'proxy-authorization', 'cookie', 'x-api-key', 'api-key', 'x-auth-token'])

/** Rules between the values of one destination. */
export function checkDestination(
  path: string,
  parts: DestinationParts,
  contract: DestinationContract,
): readonly ConfigProblem[] {
  return [
    ...checkUrl(path, parts, contract),
    ...checkHeaders(path, parts),
    ...checkTimes(path, parts, contract),
    ...checkKey(path, parts, contract),
    ...checkEndpoint(path, parts),
    ...checkAuth(path, parts, contract),
    ...checkMatchers(path, {
      matchers: parts.matchers ?? [],
      hasKey: contract.idempotency.kind !== 'none',
      responseCapBytes: contract.responseCapBytes,
    }),
    ...(parts.lookup === undefined ? [] : checkLookup(`${path}.lookup`, parts.lookup, contract)),
    ...checkReviewWindow(path, contract),
  ]
}

function checkUrl(path: string, parts: DestinationParts, contract: DestinationContract): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = []
  const url = new URL(parts.url)
  const loopback = isLoopbackHost(url.hostname)
  if (url.username !== '' || url.password !== '') {
    problems.push(error(`${path}.url`, 'holds a user name or password; put credentials into headers by secret.env(…)'))
  }
  if (url.hash !== '') problems.push(error(`${path}.url`, 'has a fragment, which is never sent'))
  // What is signed doesn't show the secret.
  const auth = contract.auth !== null && contract.auth.kind !== 'hmac' && contract.auth.kind !== 'standard_webhooks'
  const hasSecret = auth || Object.values(parts.headers ?? {}).some((value) => typeof value !== 'string')
  if (url.protocol === 'http:' && hasSecret && !loopback) {
    problems.push(warning(`${path}.url`, 'is not https: the credentials in its headers travel in clear text'))
  }
  if (loopback && !contract.allowPrivate) {
    problems.push(warning(`${path}.url`, 'is a loopback address: every send is refused unless allowPrivate is true'))
  }
  return problems
}

function checkHeaders(path: string, parts: DestinationParts): readonly ConfigProblem[] {
  const { idempotency } = parts
  const keyHeader = typeof idempotency !== 'string' && 'header' in idempotency ? idempotency.header : null
  return Object.entries(parts.headers ?? {}).flatMap(([name, value]) => {
    const at = formatPath(path, ['headers', name])
    if (name === keyHeader)
      return [error(at, 'carries the idempotency key; a fixed value here would make all actions one')]
    if (name === 'content-type') return [error(at, "comes from each action's contentType; remove it here")]
    if (RESERVED.has(name)) return [error(at, 'is set by the HTTP client; remove it')]
    if (CREDENTIALS.has(name) && typeof value === 'string') {
      return [error(at, "is a credential; give it by reference, as secret.env('NAME') or secret.file('path')")]
    }
    return []
  })
}

function checkTimes(path: string, parts: DestinationParts, contract: DestinationContract): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = []
  const { connect = 0, headers = 0, body = 0 } = parts.timeouts ?? {}
  const { totalMs } = contract.timeouts
  if (connect + headers + body > totalMs) {
    problems.push(
      error(
        `${path}.timeouts.total`,
        `${formatDuration(totalMs)} is shorter than the parts given (${formatDuration(connect + headers + body)}), which could never run out`,
      ),
    )
  }
  if (contract.leaseMs <= totalMs + LEASE_MARGIN_MS) {
    problems.push(
      error(
        `${path}.lease`,
        `${formatDuration(contract.leaseMs)} must be longer than the total timeout plus ${formatDuration(LEASE_MARGIN_MS)} (${formatDuration(totalMs + LEASE_MARGIN_MS)}), else another worker starts while one still sends`,
      ),
    )
  }
  if (contract.retry.firstMs > contract.retry.capMs) {
    problems.push(error(`${path}.retry.first`, `is longer than retry.cap (${formatDuration(contract.retry.capMs)})`))
  }
  return problems
}

function checkKey(path: string, parts: DestinationParts, contract: DestinationContract): readonly ConfigProblem[] {
  const { idempotency } = contract
  if (idempotency.kind === 'none') {
    return contract.replayMarkers.length === 0
      ? []
      : [warning(`${path}.replayMarkers`, 'are never met: without an idempotency key the destination knows no repeat')]
  }
  if (idempotency.kind === 'upsert') return []
  if (idempotency.kind === 'header' && RESERVED.has(idempotency.header)) {
    return [error(`${path}.idempotency.header`, 'is set by the HTTP client')]
  }
  const windowMs = idempotency.lifetimeMs - idempotency.marginMs
  if (windowMs <= 0) {
    return [
      error(
        `${path}.idempotency.lifetime`,
        `${formatDuration(idempotency.lifetimeMs)} must be longer than the margin (${formatDuration(idempotency.marginMs)})`,
      ),
    ]
  }
  if (parts.retry?.maxAge !== undefined && parts.retry.maxAge > windowMs) {
    return [
      warning(
        `${path}.retry.maxAge`,
        `is longer than the key protects (${formatDuration(windowMs)}): a send in doubt is held for a person from then on, not retried`,
      ),
    ]
  }
  return []
}

/** What rests on general knowledge is said, so that its owner looks it up before it counts. */
function checkEndpoint(path: string, { endpoint }: DestinationParts): readonly ConfigProblem[] {
  if (endpoint === undefined) return []
  const { unsure }: Endpoint = ENDPOINTS[endpoint]
  if (unsure === undefined) return []
  return [
    warning(`${path}.endpoint`, `rests on general knowledge in this: ${unsure}; compare it with the vendor's page`),
  ]
}
