import { randomUUID } from 'node:crypto'
import type { DestinationContract, LeasedEntry } from '@counterfoil/core'

/** A leased entry as the database would give it, due and opened at `now`. */
export function makeEntry(over: Partial<Omit<LeasedEntry, 'lease'>> & { lease?: Partial<LeasedEntry['lease']> } = {}) {
  const body = over.body ?? Buffer.from('{"ticket":4821}')
  const openedAt = Date.now()
  const entry: LeasedEntry = {
    id: randomUUID(),
    destination: 'crm',
    idempotencyKey: `key-${randomUUID()}`,
    body,
    contentType: 'application/json',
    deliveryUuid: randomUUID(),
    history: { attempts: 0, tries: 0, firstSentAt: openedAt, uncertainSince: null, createdAt: openedAt },
    ...over,
    lease: {
      token: randomUUID(),
      attempt: 1,
      dueAt: openedAt,
      openedAt,
      expiresAt: openedAt + 30_000,
      askedAt: performance.now(),
      sendBefore: performance.now() + 25_000,
      ...over.lease,
    },
  }
  return entry
}

export function makeContract(over: Partial<DestinationContract> = {}): DestinationContract {
  return {
    name: 'crm',
    url: 'http://127.0.0.1:1/',
    method: 'POST',
    headers: {},
    idempotency: {
      kind: 'header',
      header: 'Idempotency-Key',
      quoted: false,
      lifetimeMs: 86_400_000,
      marginMs: 600_000,
    },
    timeouts: { connectMs: 500, headersMs: 500, bodyMs: 500, totalMs: 1_200 },
    leaseMs: 10_000,
    concurrency: 4,
    responseCapBytes: 1_024,
    allowPrivate: true,
    retry: {
      firstMs: 5_000,
      capMs: 60_000,
      maxAttempts: 5,
      maxAgeMs: 3_600_000,
      maxRetryAfterMs: 3_600_000,
    },
    auth: null,
    tls: null,
    matchers: [],
    replayMarkers: [{ header: 'Idempotent-Replayed', value: 'true' }],
    ...over,
  }
}
