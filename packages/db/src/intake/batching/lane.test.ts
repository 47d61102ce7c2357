import { describe, expect, it } from 'vitest'
import { type Arrival, createArrival } from './arrival.js'
import { createLane, type LaneOptions } from './lane.js'

function arrive(key: string, bytes = 0): Arrival {
  const body = Buffer.alloc(bytes)
  const delivery = { body, disposition: { kind: 'ignored', reason: 'x' } }
  return createArrival({ deliveries: [delivery] } as never, key, performance.now() + 60_000, () => {}).arrival
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

function open(options: Partial<LaneOptions> = {}) {
  const batches: { keys: string[]; end: () => void }[] = []
  const lane = createLane(
    {
      maxInFlight: 1,
      maxPushes: 3,
      maxBytes: 10_000,
      oneAtATimePerKey: false,
      run: (batch) =>
        new Promise<void>((resolve) => {
          batches.push({ keys: batch.map((arrival) => arrival.key), end: resolve })
          for (const arrival of batch) arrival.settle({ kind: 'unavailable', cause: 'test' })
        }),
      ...options,
    },
    () => {},
  )
  return { lane, batches, keys: () => batches.map((batch) => batch.keys.join('')) }
}

describe('a lane', () => {
  it('gathers the next batch while one is in flight, in arrival order', async () => {
    const { lane, batches, keys } = open()
    for (const key of 'abcde') lane.add(arrive(key))
    await turn()
    expect(keys()).toEqual(['abc'])
    expect(lane.depth().pushes).toBe(2)
    lane.add(arrive('f'))
    batches[0]?.end()
    await turn()
    expect(keys()).toEqual(['abc', 'def'])
    batches[1]?.end()
    await turn()
    expect(lane.isIdle()).toBe(true)
  })

  it('ends a batch by bytes too, but never leaves one out for its size', async () => {
    const { lane, batches, keys } = open()
    for (const [key, bytes] of [
      ['a', 5_000],
      ['b', 5_000],
      ['c', 50_000],
      ['d', 1],
    ] as const)
      lane.add(arrive(key, bytes))
    for (let index = 0; index < 4; index += 1) {
      await turn()
      batches[index]?.end()
    }
    await turn()
    expect(keys()).toEqual(['a', 'b', 'c', 'd'])
    expect(lane.depth()).toEqual({ pushes: 0, bytes: 0 })
  })

  it('runs arrivals of one key one after the other, and others past them', async () => {
    const { lane, batches, keys } = open({ maxInFlight: 2, maxPushes: 1, oneAtATimePerKey: true })
    for (const key of 'aabc') lane.add(arrive(key))
    await turn()
    expect(keys()).toEqual(['a', 'b'])
    batches[1]?.end()
    await turn()
    expect(keys()).toEqual(['a', 'b', 'c'])
    batches[0]?.end()
    await turn()
    expect(keys()).toEqual(['a', 'b', 'c', 'a'])
  })

  it('lets go of an arrival that is taken out', async () => {
    const { lane, keys } = open()
    const gone = arrive('a', 500)
    lane.add(gone)
    lane.remove(gone)
    expect(lane.depth()).toEqual({ pushes: 0, bytes: 0 })
    await turn()
    expect(keys()).toEqual([])
  })
})
