import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { DestinationContract, DestinationTls, SecretReader } from '@counterfoil/core'
import { isLoopbackHost } from './check-source.js'
import type { DestinationParts } from './destination-schema.js'
import { formatPath } from './format-path.js'
import { type ConfigProblem, error, warning } from './problem.js'

/** Rules of how we prove who we are to one destination. */
export function checkAuth(
  path: string,
  parts: DestinationParts,
  contract: DestinationContract,
): readonly ConfigProblem[] {
  return [
    ...checkOwnHeaders(path, parts, contract),
    ...checkTokenUrl(path, contract),
    ...checkTls(path, parts, contract.tls),
  ]
}

/** Headers that `auth` writes: nothing else may. */
export function listAuthHeaders({ auth }: Pick<DestinationContract, 'auth'>): readonly string[] {
  switch (auth?.kind) {
    case undefined:
      return []
    case 'bearer':
    case 'basic':
    case 'oauth2':
      return ['authorization']
    case 'hmac':
      return [auth.header, ...(auth.timestampHeader === null ? [] : [auth.timestampHeader])]
    case 'standard_webhooks':
      return ['webhook-id', 'webhook-timestamp', 'webhook-signature']
  }
}

function checkOwnHeaders(
  path: string,
  parts: DestinationParts,
  contract: DestinationContract,
): readonly ConfigProblem[] {
  const own = listAuthHeaders(contract)
  const problems = Object.keys(parts.headers ?? {})
    .filter((name) => own.includes(name))
    .map((name) => error(formatPath(path, ['headers', name]), 'is written by auth; give one of the two'))
  const { idempotency, auth } = contract
  if (idempotency.kind !== 'header' || !own.includes(idempotency.header)) return problems
  // Standard Webhooks gives the key this very header, and signs it there.
  if (auth?.kind === 'standard_webhooks' && idempotency.header === 'webhook-id' && !idempotency.quoted) return problems
  return [...problems, error(`${path}.idempotency.header`, 'is written by auth; the key needs a header of its own')]
}

function checkTokenUrl(path: string, { auth, allowPrivate }: DestinationContract): readonly ConfigProblem[] {
  if (auth?.kind !== 'oauth2') return []
  const url = new URL(auth.tokenUrl)
  const at = `${path}.auth.oauth2.tokenUrl`
  const loopback = isLoopbackHost(url.hostname)
  if (url.username !== '' || url.password !== '') return [error(at, 'holds a user name or password; use clientId')]
  if (url.protocol === 'http:' && !loopback) return [error(at, 'is not https: the client secret would travel in clear')]
  return loopback && !allowPrivate
    ? [warning(at, 'is a loopback address: no token is ever had unless allowPrivate is true')]
    : []
}

function checkTls(path: string, parts: DestinationParts, tls: DestinationTls | null): readonly ConfigProblem[] {
  if (tls === null) return []
  const at = `${path}.tls`
  const problems: ConfigProblem[] = []
  if (!parts.url.startsWith('https:')) problems.push(error(at, 'has no use: the URL is not https'))
  if ((tls.cert === null) !== (tls.key === null)) {
    problems.push(error(at, 'needs cert and key together; give both, or only ca'))
  }
  if (parts.tls?.key?.kind === 'secret_env') {
    problems.push(
      warning(`${at}.key`, 'is a variable, which never changes while the worker runs; a file can be rotated'),
    )
  }
  return [...problems, ...listUnreadable(at, tls)]
}

function listUnreadable(at: string, { cert, key, ca }: DestinationTls): readonly ConfigProblem[] {
  const parsers: readonly [string, SecretReader | null, (pem: Buffer) => unknown, string][] = [
    ['cert', cert, (pem) => new X509Certificate(pem), 'certificate'],
    ['key', key, (pem) => createPrivateKey(pem), 'private key'],
    ['ca', ca, (pem) => new X509Certificate(pem), 'certificate'],
  ]
  return parsers.flatMap(([name, read, parse, what]) => {
    const pem = read?.() ?? Buffer.alloc(0)
    // Empty: the store has already said why it can't be read.
    return pem.length === 0 || succeeds(() => parse(pem)) ? [] : [error(`${at}.${name}`, `is no ${what} in PEM`)]
  })
}

function succeeds(attempt: () => unknown): boolean {
  try {
    attempt()
    return true
  } catch {
    return false
  }
}
