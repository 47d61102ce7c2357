import { isIP } from 'node:net'
import type { SigningKey } from '@counterfoil/core'

export type PushPermission =
  | { readonly kind: 'free' }
  /** Off this machine with a source's real key: only forced, by an operator, on record. */
  | { readonly kind: 'must_be_forced'; readonly why: string }

/**
 * A forged push with a real key is indistinguishable from an honest one, so a real key stays on this machine. Keys
 * whose id starts with `demo` are made to be tried with.
 */
export function judgePush(url: URL, key: Pick<SigningKey, 'id'>): PushPermission {
  if (key.id.startsWith('demo') || isLoopback(url.hostname)) return { kind: 'free' }
  return { kind: 'must_be_forced', why: `${url.host} is not this machine, and ${key.id} is not a demo key` }
}

function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '')
  if (isIP(host) === 4) return host.startsWith('127.')
  return host === 'localhost' || host === '::1'
}

/** The key with this id, or the first that is active now. */
export function chooseKey(keys: readonly SigningKey[], id: string | null, now: number): SigningKey | null {
  const isActive = (key: SigningKey) =>
    (key.notBefore === undefined || key.notBefore <= now) && (key.notAfter === undefined || now <= key.notAfter)
  return (id === null ? keys.find(isActive) : keys.find((key) => key.id === id)) ?? null
}
