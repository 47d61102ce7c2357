import { X509Certificate } from 'node:crypto'
import type { CertificateReading, KeyMaterial } from '@counterfoil/core'
import type { FetchText } from './fetch-text.js'

/** A topic's region has one certificate, changed about yearly. */
const MAX_KEPT = 64
/**
 * A URL of the right form can be invented without end, so fetches of unknown ones are counted whoever asks: eight at
 * once, then one every ten seconds. Beyond it pushes with unknown certificates are answered 503 and come again.
 */
const BURST = 8
const REFILL_MS = 10_000
/** One that failed is not asked for again at once. */
const COOLDOWN_MS = 30_000
const LIMITS = { timeoutMs: 1_500, maxBytes: 64 * 1024 }

/** Certificates by URL. A URL names one certificate for good, so what is kept stays right. */
export function createCertificates(options: {
  readonly fetchText: FetchText
  /** Monotonic ms. */
  readonly now: () => number
  readonly onFailed: (url: string, cause: string) => void
}): KeyMaterial['certificate'] {
  const kept = new Map<string, CertificateReading & { kind: 'found' }>()
  const failed = new Map<string, { readonly at: number; readonly cause: string }>()
  const fetching = new Map<string, Promise<CertificateReading>>()
  let tokens = BURST
  let refilledAt = options.now()

  function takeToken(now: number): boolean {
    const refill = Math.floor((now - refilledAt) / REFILL_MS)
    if (refill > 0) {
      tokens = Math.min(BURST, tokens + refill)
      refilledAt += refill * REFILL_MS
    }
    if (tokens === 0) return false
    tokens -= 1
    return true
  }

  async function fetchCertificate(url: string): Promise<CertificateReading> {
    const fetched = await options.fetchText(url, LIMITS)
    if (fetched.kind === 'fetched' && isCertificate(fetched.text)) {
      const reading = { kind: 'found', pem: fetched.text } as const
      keep(kept, url, reading)
      return reading
    }
    const cause = fetched.kind === 'failed' ? fetched.cause : 'not_a_certificate'
    keep(failed, url, { at: options.now(), cause })
    options.onFailed(url, cause)
    return { kind: 'missing', cause }
  }

  return (url) => {
    const known = kept.get(url)
    if (known !== undefined) return known
    const inFlight = fetching.get(url)
    if (inFlight !== undefined) return inFlight
    const now = options.now()
    const failure = failed.get(url)
    if (failure !== undefined && now - failure.at < COOLDOWN_MS) return { kind: 'missing', cause: failure.cause }
    if (!takeToken(now)) return { kind: 'missing', cause: 'too_many_unknown_certificates' }
    const fetched = fetchCertificate(url).finally(() => fetching.delete(url))
    fetching.set(url, fetched)
    return fetched
  }
}

/** The oldest goes first: a Map keeps the order of insertion. */
function keep<V>(entries: Map<string, V>, url: string, value: V): void {
  entries.delete(url)
  entries.set(url, value)
  const oldest = entries.keys().next().value
  if (entries.size > MAX_KEPT && oldest !== undefined) entries.delete(oldest)
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).publicKey.asymmetricKeyType !== undefined
  } catch {
    return false
  }
}
