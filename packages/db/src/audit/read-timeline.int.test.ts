import { hash } from 'node:crypto'
import { judgeDelivery, listEvents } from '@counterfoil/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { recordLateOutcome } from '../outbox/index.js'
import { readArrivalTimeline, readTimeline, readTimelines } from './read-timeline.js'
import {
  ACCEPTED,
  DEAD_LETTER,
  FINISH,
  FINISH_REPEAT,
  HOLD,
  LOST,
  openStory,
  REFUSED,
  REPEATED,
  RETRY,
  type Story,
  TIMED_OUT,
} from './story.int-setup.js'

let story: Story
beforeAll(async () => {
  story = await openStory()
})
afterAll(() => story.end())

async function readOne(delivery: string) {
  const timeline = await readTimeline(story.database, delivery)
  if (timeline === null) throw new Error('the delivery is not there')
  return { timeline, judged: judgeDelivery(timeline) }
}

describe('readTimeline', () => {
  it('tells a lost response and a time-out as one action that the destination recognised', async () => {
    const delivery = await story.addDelivery({ references: [{ name: 'ticket', value: 'ticket-4821' }] })
    await story.addArrival(delivery, 'duplicate', 204)
    await story.addEntry(delivery, 'crm-a', 'ticket-4821:reply:3')
    await story.attempt('crm-a', TIMED_OUT, RETRY)
    await story.attempt('crm-a', REPEATED, FINISH_REPEAT)

    const { timeline, judged } = await readOne(delivery)
    expect(judged.headline.kind).toBe('delivered_repeat_ignored')
    expect(judged.counters).toEqual({ pushes: 2, repeats: 1, attempts: 2, confirmed: 1, unknown: 0 })
    const [entry] = timeline.entries
    expect(entry?.attempts.map(({ number, outcome, keySent }) => ({ number, outcome, keySent }))).toEqual([
      { number: 1, outcome: 'uncertain', keySent: 'ticket-4821:reply:3' },
      { number: 2, outcome: 'accepted', keySent: 'ticket-4821:reply:3' },
    ])
    expect(entry?.attempts[0]?.digestSent).toBe(entry?.bodyDigest)
    const times = listEvents(timeline).map((event) => event.at)
    expect(times).toEqual([...times].sort((a, b) => a - b))
    expect(timeline.references).toEqual([{ name: 'ticket', value: 'ticket-4821' }])
  })

  it('heads a delivery with its least certain action, and shows where a pending one is', async () => {
    const delivery = await story.addDelivery()
    await story.addEntry(delivery, 'mailer-b')
    await story.addEntry(delivery, 'crm-b')
    await story.addEntry(delivery, 'audit-b')
    await story.attempt('mailer-b', TIMED_OUT, HOLD, false)
    await story.attempt('crm-b', ACCEPTED, FINISH)
    const leased = await story.lease('audit-b')

    const { timeline, judged } = await readOne(delivery)
    expect(judged.headline.kind).toBe('unknown')
    const byDestination = Object.fromEntries(judged.entries.map((one) => [one.entry.destination, one.verdict.kind]))
    expect(byDestination).toEqual({ 'mailer-b': 'unknown', 'crm-b': 'delivered_once', 'audit-b': 'not_delivered_yet' })
    expect(judged.counters).toMatchObject({ attempts: 3, confirmed: 1, unknown: 1 })
    expect(timeline.entries.find((entry) => entry.destination === 'audit-b')?.position).toMatchObject({
      kind: 'leased',
      attempt: 1,
      worker: 'w1',
    })
    await story.close(leased, REFUSED, DEAD_LETTER)
    const after = await readOne(delivery)
    expect(after.judged.entries.find((one) => one.entry.destination === 'audit-b')?.verdict.advice.redrive.safe).toBe(
      true,
    )
  })

  it('shows a late answer beside the attempt whose lease was lost', async () => {
    const delivery = await story.addDelivery()
    await story.addEntry(delivery, 'late-c')
    const leased = await story.lease('late-c')
    await story.close(leased, LOST, RETRY)
    await recordLateOutcome(story.database, {
      leased,
      worker: 'w1',
      outcome: ACCEPTED,
      decision: FINISH,
      durationMs: null,
      detail: null,
      keySent: leased.idempotencyKey,
      digestSent: hash('sha256', leased.body, 'buffer'),
    })
    const { timeline, judged } = await readOne(delivery)
    expect(timeline.entries[0]?.lateOutcomes).toMatchObject([{ number: 1, outcome: 'accepted', status: 202 }])
    expect(judged.headline.kind).toBe('delivered_once')
  })

  it('shows a linked action under both deliveries, and flags that its content differs', async () => {
    const first = await story.addDelivery()
    const entry = await story.addEntry(first, 'crm-d', 'shared-key')
    await story.attempt('crm-d', ACCEPTED, FINISH)
    const second = await story.addDelivery()
    await story.pool.query('INSERT INTO counterfoil.entry_link (delivery, entry, body_differs) VALUES ($1, $2, true)', [
      second,
      entry,
    ])
    const { timeline, judged } = await readOne(second)
    expect(timeline.entries[0]).toMatchObject({ id: entry, delivery: first, link: { bodyDiffers: true } })
    expect(judged.headline.kind).toBe('delivered_once')
    expect(listEvents(timeline).some((event) => event.flagged && event.text.includes('OTHER content'))).toBe(true)
    expect((await readOne(first)).timeline.entries[0]).toMatchObject({ link: null, linkedDeliveries: 1 })
  })

  it('keeps personal references out of what it returns', async () => {
    const references = [{ name: 'email', value: 'ana@example.org', personal: true }]
    const { timeline } = await readOne(await story.addDelivery({ references }))
    expect(timeline.references).toEqual([{ name: 'email', value: null }])
    expect(JSON.stringify(timeline)).not.toContain('ana@example.org')
  })

  it('counts every arrival but lists a bounded number of them', async () => {
    const delivery = await story.addDelivery()
    await story.pool.query(
      `INSERT INTO counterfoil.observation (delivery, number, id, kind, key_id, instance)
       SELECT $1, n, gen_random_uuid(), 'duplicate', 'demo-1', 'r' FROM generate_series(2, 1000) n`,
      [delivery],
    )
    const { timeline, judged } = await readOne(delivery)
    expect(judged.counters).toMatchObject({ pushes: 1000, repeats: 999 })
    expect(timeline.observations).toHaveLength(200)
    expect(timeline.cut).toBe(true)
  })

  it('reads a page in the order asked for and leaves out what is not there', async () => {
    const [a, b] = [await story.addDelivery(), await story.addDelivery()]
    const page = await readTimelines(story.database, [b, '00000000-0000-7000-8000-000000000000', a])
    expect(page.map((timeline) => timeline.delivery.id)).toEqual([b, a])
    expect(await readTimeline(story.database, '00000000-0000-7000-8000-000000000000')).toBeNull()
  })
})

describe('readArrivalTimeline', () => {
  it('is open for a trace until a delivery with its source and id exists', async () => {
    const name = { source: 'tickets', deliveryId: 'lost-1' }
    await story.pool.query(
      `INSERT INTO counterfoil.unclaimed VALUES (gen_random_uuid(), 'tickets', 'lost-1', sha256('x'), 'connection', now())`,
    )
    expect(await readArrivalTimeline(story.database, { ...name, source: 'other' })).toBeNull()
    expect(await readArrivalTimeline(story.database, name)).toMatchObject({ counts: { refused: 0, unclaimed: 1 } })
    const delivery = await story.addDelivery(name)
    expect(await readArrivalTimeline(story.database, name)).toBeNull()
    expect((await readOne(delivery)).timeline.unclaimed).toMatchObject([{ cause: 'connection' }])
  })
})
