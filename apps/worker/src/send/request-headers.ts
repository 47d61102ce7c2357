import type { DestinationAuth, DestinationContract } from '@counterfoil/core'

const USER_AGENT = 'counterfoil/0.1'

/**
 * The headers that are the same for every request of a destination, as a flat list of names and values. Read at every
 * send, as a secret among them may be reloaded; built anew only when it was.
 */
export function createFixedHeaders(contract: DestinationContract): () => readonly string[] {
  let source = contract.headers
  let built = buildFixedHeaders(contract)
  return () => {
    const { headers } = contract
    if (headers !== source) {
      source = headers
      built = buildFixedHeaders(contract)
    }
    return built
  }
}

function buildFixedHeaders(contract: DestinationContract): readonly string[] {
  // The entry's own: a configured header can never put another key or type beside them.
  const owned = new Set(['content-type', ...listOwnedByAuth(contract.auth)])
  if (contract.idempotency.kind === 'header') owned.add(contract.idempotency.header.toLowerCase())
  const configured = Object.entries(contract.headers).filter(([name]) => !owned.has(name.toLowerCase()))
  const hasUserAgent = configured.some(([name]) => name.toLowerCase() === 'user-agent')
  return [...(hasUserAgent ? [] : ['user-agent', USER_AGENT]), ...configured.flat()]
}

function listOwnedByAuth(auth: DestinationAuth | null): readonly string[] {
  switch (auth?.kind) {
    case undefined:
      return []
    case 'hmac':
      return [auth.header, auth.timestampHeader ?? auth.header].map((name) => name.toLowerCase())
    case 'standard_webhooks':
      return ['webhook-id', 'webhook-timestamp', 'webhook-signature']
    default:
      return ['authorization']
  }
}

/** The header of the key, as names and values. `webhook-id` is already written, and signed, by Standard Webhooks. */
export function writeKeyHeader({ idempotency, auth }: DestinationContract, key: string): string[] {
  if (idempotency.kind !== 'header') return []
  if (auth?.kind === 'standard_webhooks' && idempotency.header.toLowerCase() === 'webhook-id') return []
  return [idempotency.header, formatKey(key, idempotency.quoted)]
}

/**
 * The key as it goes into its header, the same for the same key always (I3): bare, or as an RFC 8941 string. Intake
 * froze it as printable ASCII; should another text ever be in the outbox, undici refuses to build the request.
 */
export function formatKey(key: string, quoted: boolean): string {
  return quoted ? `"${key.replace(/["\\]/g, '\\$&')}"` : key
}
