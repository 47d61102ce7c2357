import { describe, expect, it } from 'vitest'
import type { FailureKind } from '../../connection/classify-failure.js'
import { type Arrival, createArrival } from './arrival.js'
import { landBatch, type TryResult } from './land-batch.js'

const landed: TryResult = { kind: 'landed' }
const failed = (kind: FailureKind, sent = true): TryResult => ({ kind: 'failed', failure: { kind, cause: kind }, sent })

function accept(count: number, deadlineMs = 5_000) {
  return Array.from({ length: count }, (_, index) =>
    createArrival({ deliveries: [] }, String(index), performance.now() + deadlineMs, () => {}),
  )
}

function settle(batch: readonly Arrival[]): TryResult {
  for (const arrival of batch) arrival.settle({ kind: 'committed', results: [] })
  return landed
}

describe('landBatch', () => {
  it('finds the one arrival that is refused by halving, in 2 log n tries', async () => {
    const accepted = accept(256)
    let tries = 0
    await landBatch(
      accepted.map(({ arrival }) => arrival),
      {
        execute: async (batch) => {
          tries += 1
          return batch.some((arrival) => arrival.key === '77') ? failed('data') : settle(batch)
        },
        isolate: null,
        random: () => 0,
      },
    )
    const answers = await Promise.all(accepted.map(({ answer }) => answer))
    expect(answers.filter((answer) => answer.kind === 'committed')).toHaveLength(255)
    expect(answers[77]).toEqual({ kind: 'unavailable', cause: 'data' })
    expect(tries).toBe(17)
  })

  it('hands the one that waits for a stranger to run alone', async () => {
    const accepted = accept(8)
    const alone: Arrival[] = []
    await landBatch(
      accepted.map(({ arrival }) => arrival),
      {
        execute: async (batch) => (batch.some((arrival) => arrival.key === '3') ? failed('blocked') : settle(batch)),
        isolate: (arrival) => alone.push(arrival),
        random: () => 0,
      },
    )
    expect(alone.map((arrival) => arrival.key)).toEqual(['3'])
  })

  it('runs the whole batch again after a conflict or a lost connection', async () => {
    const accepted = accept(3)
    const results = [failed('conflict'), failed('connection'), failed('connection', false)]
    const sizes: number[] = []
    await landBatch(
      accepted.map(({ arrival }) => arrival),
      {
        execute: async (batch) => {
          sizes.push(batch.length)
          return results.shift() ?? settle(batch)
        },
        isolate: null,
        random: () => 0,
      },
    )
    expect(sizes).toEqual([3, 3, 3, 3])
    expect((await Promise.all(accepted.map(({ answer }) => answer))).every(({ kind }) => kind === 'committed')).toBe(
      true,
    )
  })

  it('never calls a push a failure that may have landed', async () => {
    const [one] = accept(1, 40)
    if (one === undefined) return
    const work = landBatch([one.arrival], {
      execute: async () => failed('connection'),
      isolate: null,
      random: () => 1,
    })
    const answer = await one.answer
    expect(answer).toMatchObject({ kind: 'in_doubt', cause: 'deadline' })
    await work
    if (answer.kind === 'in_doubt') expect(await answer.later).toEqual({ kind: 'in_doubt', cause: 'connection' })
  })

  it('says unavailable at the deadline when nothing ever left for the server', async () => {
    const [one] = accept(1, 40)
    if (one === undefined) return
    const work = landBatch([one.arrival], {
      execute: async () => failed('connection', false),
      isolate: null,
      random: () => 1,
    })
    expect(await one.answer).toEqual({ kind: 'unavailable', cause: 'connection' })
    await work
  })

  it.each<FailureKind>(['other', 'read_only'])(
    'gives all of it up at once after a failure of kind %s',
    async (kind) => {
      const accepted = accept(4)
      let tries = 0
      await landBatch(
        accepted.map(({ arrival }) => arrival),
        {
          execute: async () => {
            tries += 1
            return failed(kind)
          },
          isolate: null,
          random: () => 0,
        },
      )
      expect(tries).toBe(1)
      expect(await accepted[0]?.answer).toEqual({ kind: 'unavailable', cause: kind })
    },
  )
})
