import type { LeasedEntry } from '@counterfoil/core'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { makeEntry } from '../testing/make-entry.js'
import { createDrainer, type DrainerPorts } from './drainer.js'

type LeaseRequest = Parameters<DrainerPorts['lease']>[0]

/** A destination with a backlog; the test decides when a lease call answers and when an outcome is recorded. */
function openBench(slots: number, pollMs = 1_000) {
  const backlog: LeasedEntry[] = []
  const requests: LeaseRequest[] = []
  const inFlight = new Map<LeasedEntry, (dueInMs: number | null) => void>()
  const onWire: (() => void)[] = []
  const givenBack: LeasedEntry[] = []
  let passedOn = 0
  let hold: Promise<void> = Promise.resolve()
  const drainer = createDrainer(
    { slots, pollMs, now: () => performance.now() },
    {
      lease: async (request) => {
        requests.push(request)
        const found = backlog.splice(0, request.limit)
        await hold
        return found
      },
      giveBack: async (entries) => void givenBack.push(...entries),
      deliver: (leased, leaveWire) => {
        onWire.push(leaveWire)
        return new Promise((resolve) => inFlight.set(leased, resolve))
      },
      passOn: () => {
        passedOn += 1
      },
    },
  )
  return {
    drainer,
    requests,
    inFlight,
    givenBack,
    passedOn: () => passedOn,
    add: (count: number) => backlog.push(...Array.from({ length: count }, () => makeEntry())),
    left: () => backlog.length,
    holdLeases: () => {
      let release = () => {}
      hold = new Promise((resolve) => {
        release = resolve
      })
      return () => release()
    },
    /** The destination has answered that many; their outcomes are not recorded yet. */
    answer: (count: number) => {
      for (const leaveWire of onWire.splice(0, count)) leaveWire()
    },
    record: (count: number, dueInMs: number | null = null) => {
      for (const [leased, resolve] of [...inFlight].slice(0, count)) {
        inFlight.delete(leased)
        resolve(dueInMs)
      }
    },
  }
}

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** A turn takes a trip through the event loop, so even `run()` lets a millisecond pass. */
const run = (ms = 1) => vi.advanceTimersByTimeAsync(ms)

describe('a drainer', () => {
  test('leases no more than its free slots and sends what it got at once', async () => {
    const bench = openBench(4)
    bench.add(10)
    bench.drainer.wake()
    await run()
    expect(bench.requests.map(({ limit }) => limit)).toEqual([4])
    expect(bench.inFlight.size).toBe(4)
    expect(bench.drainer.inHand()).toBe(4)
  })

  test('fills the wire again while outcomes are being recorded, up to as many again', async () => {
    const bench = openBench(4)
    bench.add(20)
    bench.drainer.wake()
    await run()
    bench.answer(4)
    await run()
    expect(bench.inFlight.size).toBe(8)
    bench.answer(4)
    await run()
    expect(bench.inFlight.size).toBe(8)
    bench.record(3)
    await run()
    expect(bench.inFlight.size).toBe(8)
    expect(bench.left()).toBe(9)
  })

  test('asks once for all the slots that one batch of outcomes has freed', async () => {
    const bench = openBench(8)
    bench.add(16)
    bench.drainer.wake()
    await run()
    bench.record(6)
    await run()
    expect(bench.requests.map(({ limit }) => limit)).toEqual([8, 6])
  })

  test('goes on until the backlog is gone, then waits for the poll, which slows down to pollMs', async () => {
    const bench = openBench(2, 1_000)
    bench.add(3)
    bench.drainer.wake()
    await run()
    bench.record(2)
    await run()
    bench.record(1)
    await run()
    expect(bench.left()).toBe(0)
    await run(10_000)
    const before = bench.requests.length
    await run(10_000)
    expect(bench.requests.length - before).toBe(10)
    bench.add(1)
    await run(1_000)
    expect(bench.inFlight.size).toBe(1)
  })

  test('looks at everything when a bounded look found nothing: commit order is not time order', async () => {
    const bench = openBench(4)
    bench.add(2)
    bench.drainer.wake()
    await run()
    bench.record(2)
    await run()
    const [first, second, third] = bench.requests.map(({ dueFrom }) => dueFrom)
    expect(first).toBeNull()
    expect(second).toBeInstanceOf(Date)
    expect(third).toBeNull()
  })

  test('looks at everything once a second even while bounded looks find enough', async () => {
    const bench = openBench(1)
    bench.add(60)
    bench.drainer.wake()
    for (let turn = 0; turn < 40; turn += 1) {
      await run(50)
      bench.record(1)
    }
    const unbounded = bench.requests.filter(({ dueFrom }) => dueFrom === null).length
    expect(unbounded).toBeGreaterThanOrEqual(2)
    expect(unbounded).toBeLessThanOrEqual(4)
  })

  test('is not late for a retry of its own, however slow the poll is', async () => {
    const bench = openBench(2, 60_000)
    bench.add(1)
    bench.drainer.wake()
    await run()
    await run(120_000)
    bench.record(1, 5_000)
    await run(4_900)
    bench.add(1)
    await run(160)
    expect(bench.inFlight.size).toBe(1)
  })

  test('passes a wake-up on when it is full and there is more, but not for every turn', async () => {
    const bench = openBench(2)
    bench.add(50)
    bench.drainer.wake()
    await run()
    expect(bench.passedOn()).toBe(1)
    for (let turn = 0; turn < 10; turn += 1) {
      bench.record(2)
      await run(10)
    }
    expect(bench.passedOn()).toBe(1)
    await run(250)
    bench.record(2)
    await run()
    expect(bench.passedOn()).toBe(2)
  })

  test('passes nothing on when it found less than it could take', async () => {
    const bench = openBench(4)
    bench.add(3)
    bench.drainer.wake()
    await run()
    expect(bench.passedOn()).toBe(0)
  })

  test('a wake-up during a lease call is not lost', async () => {
    const bench = openBench(4)
    const release = bench.holdLeases()
    bench.drainer.wake()
    await run()
    bench.add(1)
    bench.drainer.wake()
    release()
    await run()
    expect(bench.inFlight.size).toBe(1)
  })

  test('stopped, it gives back what a call in flight still brings, and sends none of it', async () => {
    const bench = openBench(4)
    bench.add(3)
    const release = bench.holdLeases()
    bench.drainer.wake()
    await run()
    const stopping = bench.drainer.stop()
    release()
    await run()
    await stopping
    expect(bench.givenBack).toHaveLength(3)
    expect(bench.inFlight.size).toBe(0)
    bench.drainer.wake()
    await run(5_000)
    expect(bench.requests).toHaveLength(1)
  })

  test('is settled when nothing is in hand any more', async () => {
    const bench = openBench(2)
    bench.add(2)
    bench.drainer.wake()
    await run()
    const stopping = bench.drainer.stop()
    await run()
    await stopping
    let isSettled = false
    void bench.drainer.settled().then(() => {
      isSettled = true
    })
    bench.record(1)
    await run()
    expect(isSettled).toBe(false)
    bench.record(1)
    await run()
    expect(isSettled).toBe(true)
  })

  test('turns also while it is full, so that its age tells a stuck loop from a slow destination', async () => {
    const bench = openBench(1)
    bench.add(1)
    bench.drainer.wake()
    await run(30_000)
    expect(performance.now() - bench.drainer.turnedAt()).toBeLessThan(1_100)
  })
})
