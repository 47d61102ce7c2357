import type { KeyMaterial } from '@counterfoil/core'
import type { Logger } from 'pino'
import { createCertificates } from './certificates.js'
import { type FetchText, fetchText } from './fetch-text.js'
import { createKeySets } from './key-sets.js'

/** Within the time that a push may take. */
const CONFIRM_LIMITS = { timeoutMs: 2_000, maxBytes: 64 * 1024 }

export type KeyMaterialOptions = {
  readonly log: Logger
  readonly fetchText?: FetchText
  /** Monotonic ms. */
  readonly now?: () => number
}

/** Keys that senders publish, fetched from them; see `key-sets.ts` and `certificates.ts` for what bounds the fetching. */
export function openKeyMaterial(options: KeyMaterialOptions): KeyMaterial {
  const shared = {
    fetchText: options.fetchText ?? fetchText,
    now: options.now ?? (() => performance.now()),
    onFailed: (url: string, cause: string) => options.log.error({ url, cause }, 'key_material.not_fetched'),
  }
  return { keySet: createKeySets(shared), certificate: createCertificates(shared) }
}

/** Visits a URL that stands for consent; `null`: done, else why not. Its token stays out of the log. */
export async function confirmByVisit(url: string, fetch: FetchText = fetchText): Promise<string | null> {
  const visited = await fetch(url, CONFIRM_LIMITS)
  return visited.kind === 'fetched' ? null : visited.cause
}
