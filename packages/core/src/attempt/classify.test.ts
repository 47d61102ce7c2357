import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type ClassifyContract, classify } from './classify.js'
import { ERROR_CLASSES } from './error-classes.js'
import type { Sent } from './sent.js'

const NOW = Date.UTC(2026, 0, 1)

/**
 * What an HTTP client reported for each way a request can fail, measured on loopback with undici 7.30 on Node 20, and
 * what has to come of it. `marker`: were the request's headers handed to the socket?
 */
type MeasuredFailure = {
  readonly name: string
  readonly status: number | null
  readonly code: string | null
  readonly marker: boolean
  readonly kind: string
}
const MEASURED_FAILURES: readonly MeasuredFailure[] = JSON.parse(
  readFileSync(new URL('./vectors/measured-failures.json', import.meta.url), 'utf8'),
)

const keyed: ClassifyContract = {
  idempotency: { kind: 'header', header: 'Idempotency-Key', quoted: false, lifetimeMs: 86_400_000, marginMs: 600_000 },
  retry: { firstMs: 5_000, capMs: 3_600_000, maxAttempts: 12, maxAgeMs: 259_200_000, maxRetryAfterMs: 21_600_000 },
  matchers: [],
  replayMarkers: [
    { header: 'Idempotent-Replayed', value: 'true' },
    { header: 'X-Seen', value: null },
  ],
}
const keyless: ClassifyContract = { ...keyed, idempotency: { kind: 'none' } }

function answered(status: number, headers: Record<string, string> = {}): Sent {
  return { kind: 'answered', status, headers, body: null, bodyTruncated: false, durationMs: 1 }
}

function failed(code: string, headersHandedOver: boolean | null): Sent {
  return { kind: 'failed', code, message: code, headersHandedOver, step: 'unknown', durationMs: 1 }
}

/** Every status that is not `otherwise` in its hundred, written out by hand from the vendors' table. */
const EXCEPTIONS: Record<string, readonly number[]> = {
  uncertain: [207, 408, 409],
  unauthorised: [401, 402, 403, 407],
  deferred: [429, 503],
  not_sent: [421, 423, 425, 507, 521, 523, 525, 526, 530],
  rejected: [501, 505, 506, 508, 510, 511],
}
const OTHERWISE: Record<number, string> = {
  1: 'uncertain',
  2: 'accepted',
  3: 'rejected',
  4: 'rejected',
  5: 'uncertain',
}

function expectedKind(status: number): string {
  const named = Object.entries(EXCEPTIONS).find(([, statuses]) => statuses.includes(status))
  return named?.[0] ?? OTHERWISE[Math.floor(status / 100)] ?? 'uncertain'
}

describe('a known status', () => {
  it('decides for each of 100 to 599 (case B080: DNS and TLS errors in the wrong class)', () => {
    for (let status = 100; status < 600; status += 1) {
      expect([status, classify(answered(status), keyed, NOW).kind]).toEqual([status, expectedKind(status)])
    }
  })

  it('that is no final HTTP status is uncertain (case B080: DNS and TLS errors in the wrong class)', () => {
    for (const status of [0, -1, 99, 200.5, 600, 999, 1e9, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(classify(answered(status), keyed, NOW)).toMatchObject({ kind: 'uncertain', phase: 'answered' })
    }
  })

  it('names why it was rejected', () => {
    expect(classify(answered(308), keyed, NOW)).toMatchObject({ kind: 'rejected', reason: 'redirected' })
    expect(classify(answered(410), keyed, NOW)).toMatchObject({ kind: 'rejected', reason: 'gone' })
    expect(classify(answered(422), keyed, NOW)).toMatchObject({ kind: 'rejected', reason: 'refused' })
  })

  it('of 409 is "in progress" with a key and a refusal without one', () => {
    expect(classify(answered(409), keyed, NOW)).toMatchObject({
      kind: 'uncertain',
      cause: 'in_progress',
      notBefore: NOW + 5_000,
    })
    expect(classify(answered(409, { 'retry-after': '60' }), keyed, NOW)).toMatchObject({ notBefore: NOW + 60_000 })
    const impatient = { ...keyed, retry: { ...keyed.retry, maxRetryAfterMs: 2_000 } }
    expect(classify(answered(409), impatient, NOW)).toMatchObject({ notBefore: NOW + 2_000 })
    expect(classify(answered(409), keyless, NOW)).toEqual({ kind: 'rejected', status: 409, reason: 'refused' })
  })

  it('carries Retry-After as a time, and only when it can be understood', () => {
    expect(classify(answered(429, { 'retry-after': '30' }), keyed, NOW)).toMatchObject({ notBefore: NOW + 30_000 })
    expect(classify(answered(503, { 'retry-after': 'soon' }), keyed, NOW)).toMatchObject({ notBefore: null })
    expect(classify(answered(503, { 'retry-after': '86400' }), keyed, NOW)).toMatchObject({
      notBefore: NOW + 21_600_000,
    })
  })

  it('is a repeat only where a marker of the contract says so', () => {
    expect(classify(answered(200, { 'idempotent-replayed': 'TRUE' }), keyed, NOW)).toMatchObject({ repeat: true })
    expect(classify(answered(200, { 'idempotent-replayed': 'false' }), keyed, NOW)).toMatchObject({ repeat: false })
    expect(classify(answered(200, { 'x-seen': '' }), keyed, NOW)).toMatchObject({ repeat: true })
    expect(classify(answered(200), keyed, NOW)).toMatchObject({ repeat: false })
    const inherited: ClassifyContract = { ...keyed, replayMarkers: [{ header: '__proto__', value: null }] }
    expect(classify(answered(200), inherited, NOW)).toMatchObject({ repeat: false })
  })

  it('of 5xx is held when it is a replay: the stored answer decides nothing, and would come again (I6)', () => {
    for (const status of [500, 502, 503, 501]) {
      expect(classify(answered(status, { 'idempotent-replayed': 'true' }), keyed, NOW)).toMatchObject({
        kind: 'uncertain',
        cause: 'stored_failure',
        retryTellsNothing: true,
      })
      expect(classify(answered(status, { 'idempotent-replayed': 'false' }), keyed, NOW)).not.toHaveProperty(
        'retryTellsNothing',
      )
    }
  })

  it('of 429 or 503 reads the reset of a rate limit where Retry-After is silent, others do not', () => {
    const headers = { 'x-ratelimit-reset': String(NOW / 1_000 + 30) }
    expect(classify(answered(429, headers), keyed, NOW)).toMatchObject({ notBefore: NOW + 30_000 })
    expect(classify(answered(429, { 'ratelimit-reset': '9' }), keyed, NOW)).toMatchObject({ notBefore: NOW + 9_000 })
    expect(classify(answered(500, headers), keyed, NOW)).toMatchObject({ notBefore: null })
  })
})

describe('without a status', () => {
  it.each(MEASURED_FAILURES)(
    'measured: $name → $kind (case B080: DNS and TLS errors in the wrong class)',
    ({ status, code, marker, kind }) => {
      const sent = status === null ? failed(code ?? 'unknown', marker) : answered(status)
      expect(classify(sent, keyed, NOW).kind).toBe(kind)
    },
  )

  it('the marker decides, whatever the code says; no marker counts as sent (I6) (case B075: time-out taken for a failure)', () => {
    const codes = ['ECONNREFUSED', 'ENOTFOUND', 'CERT_HAS_EXPIRED', 'UND_ERR_INVALID_ARG', 'anything', '', '__proto__']
    for (const code of codes) {
      expect(classify(failed(code, true), keyed, NOW).kind).toBe('uncertain')
      expect(classify(failed(code, null), keyed, NOW).kind).toBe('uncertain')
      expect(['not_sent', 'rejected']).toContain(classify(failed(code, false), keyed, NOW).kind)
    }
  })

  it.each([
    ['EAI_AGAIN', 'dns'],
    ['ENOTFOUND', 'dns'],
    ['EMFILE', 'local_exhaustion'],
    ['EADDRNOTAVAIL', 'local_exhaustion'],
    ['UND_ERR_CONNECT_TIMEOUT', 'connect'],
    ['EHOSTUNREACH', 'connect'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls'],
    ['ERR_COUNTERFOIL_EGRESS', 'egress_refused'],
    ['ERR_COUNTERFOIL_LEASE_ENDED', 'lease_returned'],
    ['ERR_COUNTERFOIL_STOPPING', 'lease_returned'],
    ['AbortError', 'aborted_before_send'],
    ['ENEW', 'unknown_before_send'],
  ])('an unsent %s has the cause %s', (code, cause) => {
    expect(classify(failed(code, false), keyed, NOW)).toEqual({ kind: 'not_sent', cause, code })
  })

  it('a request that could not be built is rejected as unsendable', () => {
    for (const code of ['UND_ERR_INVALID_ARG', 'ERR_INVALID_URL', 'ERR_INVALID_CHAR', 'UND_ERR_NOT_SUPPORTED']) {
      expect(classify(failed(code, false), keyed, NOW)).toEqual({
        kind: 'rejected',
        status: null,
        reason: 'unsendable',
      })
    }
  })

  it('every row of the table of codes has a reason for its readers', () => {
    for (const row of ERROR_CLASSES) expect(row.why.length).toBeGreaterThan(10)
  })
})
