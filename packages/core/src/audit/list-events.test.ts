import { describe, expect, it } from 'vitest'
import { listEvents, listUnclaimedEvents } from './list-events.js'
import { DIGEST, KEY, NOW, sampleAttempt, sampleDelivery, sampleEntry, sampleLateOutcome } from './sample-timeline.js'

const final = { position: { kind: 'final' as const }, closedAt: NOW }

function texts(change: Parameters<typeof sampleDelivery>[0]): readonly string[] {
  return listEvents(sampleDelivery(change)).map((event) => event.text)
}

describe('listEvents', () => {
  it('tells arrival, claim, queueing and answer in the order of cause, whatever the clocks of two machines say', () => {
    const [ack] = sampleDelivery().acks
    if (ack === undefined) throw new Error('the sample is answered')
    const early = { ...ack, answeredAt: NOW - 900_000 }
    expect(texts({ entries: [sampleEntry({ state: 'delivered', ...final })], acks: [early] })).toEqual([
      'Pushed by tickets: first arrival',
      'Claimed and committed',
      'Queued for crm',
      'Answered 204',
    ])
  })

  it('tells arrival and claim before an outcome that was judged before the claim was written', () => {
    const { claimedAt } = sampleDelivery().delivery
    const judged = { transition: 'expire-hold', subject: 'A-12', number: 1, outcome: 'applied' as const }
    for (const decidedBy of ['push', 'sweep'] as const) {
      const transitions = [{ ...judged, decidedBy, decidedAt: claimedAt - 4 }]
      expect(texts({ transitions, acks: [] }).slice(0, 3)).toEqual([
        'Pushed by tickets: first arrival',
        'Claimed and committed',
        `expire-hold on A-12: applied (decided by ${decidedBy})`,
      ])
    }
  })

  it('puts the answer to a deferred delivery before what its time brought', () => {
    const transition = { transition: 'expire-hold', subject: 'A-12' }
    const later = NOW - 60_000
    expect(
      texts({
        transitions: [
          { ...transition, number: 1, outcome: 'not_due', decidedBy: 'push', decidedAt: NOW - 600_000 },
          { ...transition, number: 2, outcome: 'applied', decidedBy: 'deferral', decidedAt: later },
        ],
        entries: [sampleEntry({ createdAt: later, state: 'delivered', ...final })],
      }),
    ).toEqual([
      'Pushed by tickets: first arrival',
      'Claimed and committed',
      'expire-hold on A-12: not due (decided by push)',
      'Answered 204',
      'expire-hold on A-12: applied (decided by deferral)',
      'Queued for crm',
    ])
  })

  it('says that an answer is not on record rather than that none was given, and waits for the flush', () => {
    expect(texts({ acks: [] })).toContain('No answer on record: it may have been sent')
    expect(texts({ acks: [], readAt: NOW - 599_990 })).not.toContain('No answer on record: it may have been sent')
  })

  it('says "answered 503, committed later" for what is not lost', () => {
    const [ack] = sampleDelivery().acks
    if (ack === undefined) throw new Error('the sample is answered')
    expect(texts({ acks: [{ ...ack, status: 503 }] })).toContain(
      'Answered 503, although it was committed: the answer came too late',
    )
  })

  it('flags a conflict, a doubt, a late answer, and bytes or a key that are not those of the entry (I3)', () => {
    const [first] = sampleDelivery().observations
    if (first === undefined) throw new Error('the sample arrived')
    const entry = sampleEntry({
      state: 'delivered',
      ...final,
      attempts: [
        sampleAttempt(1, 'uncertain', { cause: 'worker_lost', keySent: null, digestSent: null }),
        sampleAttempt(2, 'accepted', { status: 200, keySent: 'another', digestSent: 'cd'.repeat(32) }),
        sampleAttempt(3, 'accepted', { status: 200, keySent: `"${KEY}"`, digestSent: DIGEST }),
      ],
      lateOutcomes: [sampleLateOutcome(1, 'accepted', { status: 202 })],
    })
    const events = listEvents(
      sampleDelivery({ observations: [{ ...first, kind: 'conflict' }], entries: [entry] }),
    ).filter((event) => event.flagged)
    expect(events.map((event) => event.text)).toEqual([
      'Pushed by tickets: same id with OTHER content, kept beside the first',
      expect.stringContaining('Attempt 1 to crm: unknown: the worker was lost'),
      expect.stringContaining('Attempt 2 to crm: accepted (200)'),
      'Late answer about attempt 1 to crm: accepted (202)',
    ])
    expect(events[2]?.facts.join()).toContain('key another (NOT the key of its entry)')
    expect(events[2]?.facts.join()).toContain('(NOT the content of its entry)')
  })

  it('tells what people did with their reason and evidence', () => {
    const act = {
      id: 'x',
      actor: 'ana',
      action: 'settle' as const,
      reason: 'INC-77',
      entry: 'e',
      detail: { as: 'delivered', evidence: 'm-17' },
      actedAt: NOW,
    }
    const event = listEvents(sampleDelivery({ entries: [sampleEntry({ acts: [act] })] })).find(
      (one) => one.kind === 'act',
    )
    expect(event).toMatchObject({ text: 'ana settled it as delivered', facts: ['reason: INC-77', 'evidence: m-17'] })
  })
})

describe('listUnclaimedEvents', () => {
  it('tells what arrived and made no claim', () => {
    const refusal = {
      id: 'r',
      outcome: 'not_due',
      retryAfterMs: 60_000,
      keyId: 'k',
      senderAttempt: 2,
      instance: 'i',
      observedAt: NOW,
    }
    const events = listUnclaimedEvents({
      readAt: NOW,
      source: 'warehouse',
      deliveryId: 'j-1',
      refusals: [refusal],
      unclaimed: [{ id: 'u', cause: 'deadline', seenAt: NOW - 1 }],
      counts: { refused: 1, unclaimed: 1 },
    })
    expect(events.map((event) => event.text)).toEqual([
      'Pushed by warehouse with a valid signature, but its claim was not seen to commit (deadline)',
      'Pushed by warehouse before its time: asked to come again in 1 min, not claimed',
    ])
  })
})
