import type { JsonWebKey } from 'node:crypto'
import type { JwkSetReading, KeyMaterial } from '@counterfoil/core'
import type { FetchText } from './fetch-text.js'

/** Issuers announce a new key long before they use it; an hour is what they themselves say. */
const FRESH_MS = 3_600_000
/** While the issuer is away, its keys of yesterday are as good as they were. */
const USABLE_MS = 24 * 3_600_000
/** Nobody makes us fetch more often, whatever key ids they invent. */
const COOLDOWN_MS = 30_000
/** Within the time that a push may take; an issuer's set is a few kilobytes. */
const LIMITS = { timeoutMs: 1_500, maxBytes: 256 * 1024 }

type KeySet = {
  keys: readonly JsonWebKey[] | null
  fetchedAt: number
  triedAt: number
  cause: string
  fetching: Promise<void> | null
}

/** The key sets of issuers, by URL; the URLs come from configuration, so there are few. */
export function createKeySets(options: {
  readonly fetchText: FetchText
  /** Monotonic ms. */
  readonly now: () => number
  readonly onFailed: (url: string, cause: string) => void
}): KeyMaterial['keySet'] {
  const sets = new Map<string, KeySet>()

  async function refresh(url: string, set: KeySet): Promise<void> {
    set.triedAt = options.now()
    const fetched = await options.fetchText(url, LIMITS)
    const keys = fetched.kind === 'fetched' ? parseKeySet(fetched.text) : null
    if (keys !== null) {
      set.keys = keys
      set.fetchedAt = options.now()
    } else {
      set.cause = fetched.kind === 'failed' ? fetched.cause : 'not_a_key_set'
      options.onFailed(url, set.cause)
    }
  }

  /** Everybody who needs it waits for the same fetch. */
  function refreshOnce(url: string, set: KeySet): Promise<void> {
    set.fetching ??= refresh(url, set).finally(() => {
      set.fetching = null
    })
    return set.fetching
  }

  return (url, kid) => {
    const set = sets.get(url) ?? startSet()
    sets.set(url, set)
    const now = options.now()
    const mayFetch = now - set.triedAt >= COOLDOWN_MS
    const known = usableKeys(set, now)?.some((key) => key.kid === kid) === true
    if (known) {
      // Served at once and refreshed beside: no push waits for a set that already has its key.
      if (now - set.fetchedAt >= FRESH_MS && mayFetch) void refreshOnce(url, set)
      return readSet(set, now)
    }
    if (set.fetching === null && !mayFetch) return readUnknown(set, now)
    return refreshOnce(url, set).then(() => readUnknown(set, options.now()))
  }
}

function startSet(): KeySet {
  return {
    keys: null,
    fetchedAt: Number.NEGATIVE_INFINITY,
    triedAt: Number.NEGATIVE_INFINITY,
    cause: 'not_fetched',
    fetching: null,
  }
}

function usableKeys(set: KeySet, now: number): readonly JsonWebKey[] | null {
  return now - set.fetchedAt < USABLE_MS ? set.keys : null
}

function readSet(set: KeySet, now: number): JwkSetReading {
  const keys = usableKeys(set, now)
  return keys === null ? { kind: 'missing', cause: set.cause } : { kind: 'found', keys }
}

/** A set says that a key does not exist only when the last try to read it went well. */
function readUnknown(set: KeySet, now: number): JwkSetReading {
  return set.fetchedAt >= set.triedAt ? readSet(set, now) : { kind: 'missing', cause: set.cause }
}

function parseKeySet(text: string): readonly JsonWebKey[] | null {
  try {
    const document: unknown = JSON.parse(text)
    const keys = typeof document === 'object' && document !== null && 'keys' in document ? document.keys : null
    if (!Array.isArray(keys) || keys.length === 0) return null
    return keys.every((key) => typeof key === 'object' && key !== null) ? (keys as JsonWebKey[]) : null
  } catch {
    return null
  }
}
