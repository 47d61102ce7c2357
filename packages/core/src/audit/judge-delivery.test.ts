import { describe, expect, it } from 'vitest'
import { judgeDelivery } from './judge-delivery.js'
import { judgeVerdict } from './judge-verdict.js'
import { NOW, sampleAttempt, sampleDelivery, sampleEntry } from './sample-timeline.js'
import type { ArrivalTimeline, DeliveryTimeline, TransitionOnRecord } from './timeline.js'

const final = { position: { kind: 'final' as const }, closedAt: NOW }
const delivered = sampleEntry({
  id: 'a',
  state: 'delivered',
  ...final,
  attempts: [sampleAttempt(1, 'deferred', { status: 503 }), sampleAttempt(2, 'accepted', { status: 202 })],
})
const uncertain = sampleEntry({
  id: 'b',
  destination: 'mailer',
  state: 'uncertain',
  reason: 'no_key',
  ...final,
  attempts: [sampleAttempt(1, 'uncertain', { cause: 'waiting_for_answer', keySent: null })],
})
const transition = (change: Partial<TransitionOnRecord>): TransitionOnRecord => ({
  number: 1,
  transition: 'expire-hold',
  subject: 'A-12',
  outcome: 'applied',
  decidedBy: 'push',
  decidedAt: NOW,
  ...change,
})

describe('judgeDelivery', () => {
  it('counts pushes, absorbed repeats, attempts, yeses and unknowns', () => {
    const counts = { observed: 3, duplicates: 2, conflicts: 0, refused: 0 }
    const { counters, headline } = judgeDelivery(sampleDelivery({ counts, entries: [delivered] }))
    expect(headline.kind).toBe('delivered_once')
    expect(counters).toEqual({ pushes: 3, repeats: 2, attempts: 2, confirmed: 1, unknown: 0 })
  })

  it('is headed by the least certain of its entries', () => {
    const judged = judgeDelivery(sampleDelivery({ entries: [delivered, uncertain] }))
    expect(judged.headline.kind).toBe('unknown')
    expect(judged.entries.map((one) => one.verdict.kind)).toEqual(['delivered_once', 'unknown'])
    expect(judged.counters).toMatchObject({ attempts: 3, confirmed: 1, unknown: 1 })
  })

  it('counts an attempt in flight, and calls it unknown once its lease is over', () => {
    const leased = { kind: 'leased' as const, attempt: 1, worker: 'w', openedAt: NOW - 9, uncertainSince: null }
    const flying = sampleEntry({ position: { ...leased, expiresAt: NOW + 1 } })
    const lost = sampleEntry({ position: { ...leased, expiresAt: NOW - 1 } })
    expect(judgeDelivery(sampleDelivery({ entries: [flying] })).counters).toMatchObject({ attempts: 1, unknown: 0 })
    expect(judgeDelivery(sampleDelivery({ entries: [lost] })).counters).toMatchObject({ attempts: 1, unknown: 1 })
  })

  const again = { of: 'a', root: 'a', number: 1, requestedBy: 'ana', approvedBy: 'bo' }
  const second = { ...delivered, id: 'c', idempotencyKey: 'k:again:1', again }

  it('says truly that there are two business actions, and never that it was delivered once', () => {
    const { headline, entries } = judgeDelivery(sampleDelivery({ entries: [delivered, second] }))
    expect(headline.kind).toBe('possibly_delivered_more_than_once')
    expect(headline.sentence).toContain('There are 2 business actions for it')
    expect(headline.sentence).toContain('acted, or may have acted, on 2 of them')
    expect(entries[1]?.verdict.sentence).toContain('ana asked to send it again as new, and bo approved')
  })

  it('stays unknown where one of the two is, and says that there are two (I6)', () => {
    const first = { ...uncertain, id: 'a' }
    const { headline } = judgeDelivery(sampleDelivery({ entries: [first, second] }))
    expect(headline.kind).toBe('unknown')
    expect(headline.sentence).toContain('There are 2 business actions for it')
  })

  it('is headed by what replaced a refusal, and still tells the refusal', () => {
    const stopped = sampleEntry({ id: 'a', state: 'cancelled', reason: 'by_person', ...final })
    const { headline } = judgeDelivery(sampleDelivery({ entries: [stopped, second] }))
    expect(headline.kind).toBe('delivered_once')
    expect(headline.sentence).toContain('Not delivered')
    const waiting = {
      ...second,
      state: 'pending' as const,
      attempts: [],
      closedAt: null,
      position: sampleEntry().position,
    }
    expect(judgeDelivery(sampleDelivery({ entries: [stopped, waiting] })).headline.kind).toBe('not_delivered_yet')
    const refused = { ...second, state: 'dead_lettered' as const, reason: 'rejected', attempts: [] }
    expect(judgeDelivery(sampleDelivery({ entries: [stopped, refused] })).headline.kind).toBe('not_delivered')
  })

  const base = sampleDelivery().delivery
  const table: readonly [string, Partial<DeliveryTimeline>, string, string][] = [
    ['applied', { transitions: [transition({})] }, 'done', 'Done (expire-hold)'],
    [
      'no longer held',
      { transitions: [transition({ outcome: 'no_longer_held' })] },
      'nothing_to_do',
      'Nothing to do (no longer held)',
    ],
    [
      'superseded',
      { transitions: [transition({ outcome: 'superseded' })] },
      'nothing_to_do',
      'Nothing to do (superseded)',
    ],
    [
      'not found',
      { transitions: [transition({ outcome: 'not_found' })] },
      'nothing_to_do',
      'Nothing to do (not found)',
    ],
    [
      'discarded as early',
      { transitions: [transition({ outcome: 'not_due' })] },
      'nothing_to_do',
      'Nothing to do (came early)',
    ],
    [
      'deferred',
      { transitions: [transition({ outcome: 'not_due' })], deferredUntil: NOW + 5_000 },
      'waiting',
      'Waiting until 2026-11-29 14:30:05Z',
    ],
    [
      'deferred, then applied',
      { transitions: [transition({ outcome: 'not_due' }), transition({ number: 2, decidedBy: 'deferral' })] },
      'done',
      'Done (expire-hold)',
    ],
    ['ignored', { delivery: { ...base, disposition: 'ignored', reason: 'no route' } }, 'ignored', 'Ignored'],
    [
      'quarantined',
      { delivery: { ...base, disposition: 'quarantined', reason: 'schema' } },
      'quarantined',
      'Quarantined',
    ],
    ['a route without actions', {}, 'done', 'Done'],
  ]
  it.each(table)('words a delivery without actions: %s', (_, change, kind, label) => {
    expect(judgeDelivery(sampleDelivery(change)).headline).toMatchObject({ kind, label })
  })

  it('says who discarded a quarantined one', () => {
    const act = {
      id: 'x',
      actor: 'ana',
      action: 'discard' as const,
      reason: 'test data',
      entry: null,
      detail: {},
      actedAt: NOW,
    }
    const delivery = { ...base, disposition: 'quarantined' as const, reason: 'schema' }
    const { headline } = judgeDelivery(sampleDelivery({ delivery, acts: [act] }))
    expect(headline).toMatchObject({ kind: 'ignored', label: 'Ignored (discarded)' })
    expect(headline.sentence).toContain('discarded by ana')
  })
})

describe('judgeVerdict without a claim', () => {
  const arrivals: ArrivalTimeline = {
    readAt: NOW,
    source: 'warehouse',
    deliveryId: 'j-1',
    refusals: [],
    unclaimed: [],
    counts: { refused: 0, unclaimed: 0 },
  }
  const refusal = {
    id: 'r',
    outcome: 'not_due',
    retryAfterMs: 60_000,
    keyId: 'k',
    senderAttempt: null,
    instance: 'i',
    observedAt: NOW - 1_000,
  }

  it('waits for a sender that was asked to come again', () => {
    const verdict = judgeVerdict({ kind: 'never_claimed', arrivals: { ...arrivals, refusals: [refusal] } })
    expect(verdict).toMatchObject({ kind: 'waiting', label: 'Waiting until 2026-11-29 14:30:59Z' })
  })

  it('says "never queued" when it did not come again', () => {
    const late = { ...refusal, observedAt: NOW - 120_000 }
    const verdict = judgeVerdict({ kind: 'never_claimed', arrivals: { ...arrivals, refusals: [late] } })
    expect(verdict).toMatchObject({ kind: 'never_queued', label: 'Never queued', advice: { name: 'ask_source' } })
  })

  it('says "never queued" for an authenticated push whose claim did not commit', () => {
    const unclaimed = [{ id: 'u', cause: 'connection', seenAt: NOW - 500 }]
    const verdict = judgeVerdict({ kind: 'never_claimed', arrivals: { ...arrivals, unclaimed } })
    expect(verdict.kind).toBe('never_queued')
    expect(verdict.sentence).toContain('valid signature at 2026-11-29 14:29:59Z (connection)')
  })

  it('says what was looked for, and how far back the record goes, when there is nothing', () => {
    const verdict = judgeVerdict({ kind: 'nothing', query: 'ticket-1', earliestKeptAt: NOW })
    expect(verdict.kind).toBe('no_record')
    expect(verdict.sentence).toContain('"ticket-1"')
    expect(verdict.sentence).toContain('goes back to 2026-11-29 14:30:00Z')
  })
})
