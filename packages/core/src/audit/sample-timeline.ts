import type {
  AttemptOnRecord,
  DeliveryTimeline,
  EntryTimeline,
  LateOutcomeOnRecord,
  LookupOnRecord,
} from './timeline.js'

// Timelines for tests of what is read from them: a complete one, of which a test changes what it is about.

export const NOW: number = Date.UTC(2026, 10, 29, 14, 30, 0)
export const KEY = 'ticket-4821:reply:3'
export const DIGEST: string = 'ab'.repeat(32)

/** A pending entry for `crm` that was never tried and is due now. */
export function sampleEntry(change: Partial<EntryTimeline> = {}): EntryTimeline {
  return {
    id: '01930000-0000-7000-8000-00000000000e',
    delivery: '01930000-0000-7000-8000-00000000000d',
    link: null,
    linkedDeliveries: 0,
    again: null,
    destination: 'crm',
    idempotencyKey: KEY,
    bodyDigest: DIGEST,
    contentErased: false,
    orderingKey: null,
    createdAt: NOW - 600_000,
    state: 'pending',
    reason: null,
    repeat: null,
    firstSentAt: null,
    uncertainSince: null,
    closedAt: null,
    position: { kind: 'due', dueAt: NOW, uncertainSince: null },
    pause: null,
    attempts: [],
    lateOutcomes: [],
    lookups: [],
    doubt: null,
    acts: [],
    ...change,
  }
}

/** An attempt that went out under the entry's key; ten seconds long, one a minute. */
export function sampleAttempt(
  number: number,
  outcome: AttemptOnRecord['outcome'],
  change: Partial<AttemptOnRecord> = {},
): AttemptOnRecord {
  const openedAt = NOW - 600_000 + number * 60_000
  return {
    number,
    worker: 'worker-1',
    openedAt,
    closedAt: openedAt + 10_000,
    outcome,
    status: null,
    repeat: false,
    cause: null,
    detail: null,
    durationMs: 10_000,
    keySent: outcome === 'not_sent' ? null : KEY,
    digestSent: outcome === 'not_sent' ? null : DIGEST,
    decision: 'retry',
    decisionReason: null,
    nextDueAt: null,
    ...change,
  }
}

export function sampleLateOutcome(
  number: number,
  outcome: LateOutcomeOnRecord['outcome'],
  change: Partial<LateOutcomeOnRecord> = {},
): LateOutcomeOnRecord {
  return {
    number,
    worker: 'worker-1',
    outcome,
    status: null,
    repeat: false,
    cause: null,
    detail: null,
    recordedAt: NOW - 60_000,
    ...change,
  }
}

/** A question of the reconciler's, a second long, asked four minutes after `sampleAttempt(1)`. */
export function sampleLookup(
  number: number,
  answer: Pick<NonNullable<LookupOnRecord['answer']>, 'finding' | 'effect'> | null,
  change: Partial<NonNullable<LookupOnRecord['answer']>> = {},
): LookupOnRecord {
  const askedAt = NOW - 300_000 + number * 60_000
  return {
    number,
    askedBy: 'worker-1',
    byPerson: false,
    askedAt,
    answer:
      answer === null
        ? null
        : { answeredAt: askedAt + 1_000, status: 200, cause: null, detail: null, ...answer, ...change },
  }
}

/** A delivery that was pushed once and answered 204, with the given actions. */
export function sampleDelivery(change: Partial<DeliveryTimeline> = {}): DeliveryTimeline {
  return {
    readAt: NOW,
    delivery: {
      id: '01930000-0000-7000-8000-00000000000d',
      source: 'tickets',
      deliveryId: 'd-81f',
      eventType: 'ticket.reply',
      disposition: 'act',
      reason: null,
      claimedAt: NOW - 600_000,
      contentErased: false,
    },
    references: [{ name: 'ticket', value: 'ticket-4821' }],
    counts: { observed: 1, duplicates: 0, conflicts: 0, refused: 0 },
    observations: [
      {
        id: '01930000-0000-7000-8000-000000000001',
        kind: 'first',
        keyId: 'demo-1',
        senderAttempt: null,
        instance: 'receiver-1',
        observedAt: NOW - 600_001,
      },
    ],
    refusals: [],
    unclaimed: [],
    acks: [
      {
        observation: '01930000-0000-7000-8000-000000000001',
        status: 204,
        result: 'written',
        answeredAt: NOW - 599_995,
      },
    ],
    transitions: [],
    deferredUntil: null,
    entries: [],
    acts: [],
    cut: false,
    ...change,
  }
}
