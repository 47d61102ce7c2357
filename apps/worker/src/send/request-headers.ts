import type { DestinationContract } from '@counterfoil/core'

const USER_AGENT = 'counterfoil/0.1'

/** The headers that are the same for every request of a destination, as a flat list of names and values. */
export function buildFixedHeaders(contract: DestinationContract): readonly string[] {
  // The entry's own: a configured header can never put another key or type beside them.
  const owned = new Set(['content-type'])
  if (contract.idempotency.kind === 'header') owned.add(contract.idempotency.header.toLowerCase())
  const configured = Object.entries(contract.headers).filter(([name]) => !owned.has(name.toLowerCase()))
  const hasUserAgent = configured.some(([name]) => name.toLowerCase() === 'user-agent')
  return [...(hasUserAgent ? [] : ['user-agent', USER_AGENT]), ...configured.flat()]
}

/**
 * The key as it goes into its header: printable ASCII always, the same for the same key always (I3). Everything else
 * is percent-encoded as UTF-8, and `%` with it, so that two keys never become one.
 */
export function formatKey(key: string, quoted: boolean): string {
  const printable = key.replace(/[^\x21-\x24\x26-\x7e]/gu, encodeCharacter)
  return quoted ? `"${printable.replace(/["\\]/g, '\\$&')}"` : printable
}

function encodeCharacter(character: string): string {
  let encoded = ''
  for (const byte of Buffer.from(character, 'utf8')) encoded += `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  return encoded
}
