import { describe, expect, it } from 'vitest'
import { createClockOffset } from './clock-offset.js'

/** Three clocks that tests move by hand. `answerMs` is how long the database takes to answer, per question. */
function makeClocks(answerMs: readonly number[] = [0]) {
  const clocks = { monotonic: 1000, wall: 5_000_000, database: 5_000_000, asked: 0 }
  const offset = createClockOffset({
    readDatabaseClock: async () => {
      const wait = answerMs[clocks.asked % answerMs.length] ?? 0
      clocks.asked += 1
      // All of the delay on the way back: the worst case for a guess of the middle.
      const told = clocks.database
      clocks.monotonic += wait
      clocks.wall += wait
      clocks.database += wait
      return told
    },
    toleranceMs: 2000,
    everyMs: 10_000,
    wallNow: () => clocks.wall,
    monotonicNow: () => clocks.monotonic,
  })
  return { clocks, offset }
}

describe('the clock offset', () => {
  it('is unknown before the first measurement', () => {
    expect(makeClocks().offset.read()).toEqual({ kind: 'unknown' })
  })

  it('gives the time by the database clock, carried on by the monotonic clock', async () => {
    const { clocks, offset } = makeClocks()
    clocks.database += 1500
    await offset.measure()
    clocks.monotonic += 250
    clocks.wall += 250
    expect(offset.read()).toEqual({ kind: 'known', now: 5_001_750, offsetMs: 1500 })
  })

  it('trusts the quickest of its samples', async () => {
    const { clocks, offset } = makeClocks([400, 2, 400])
    await offset.measure()
    const reading = offset.read()
    expect(clocks.asked).toBe(3)
    expect(reading.kind === 'unknown' ? null : Math.abs(reading.now - clocks.database)).toBeLessThanOrEqual(1)
  })

  it.each([600_000, -600_000])('says that this machine is off by %d ms', async (error) => {
    const { clocks, offset } = makeClocks()
    clocks.wall += error
    await offset.measure()
    expect(offset.read()).toMatchObject({ kind: 'off', offsetMs: -error, now: clocks.database })
  })

  it('notices a step of the wall clock before the next measurement', async () => {
    const { clocks, offset } = makeClocks()
    await offset.measure()
    clocks.wall += 60_000
    expect(offset.read()).toMatchObject({ kind: 'off', now: clocks.database })
  })

  it('keeps what it knew when a measurement fails', async () => {
    let fails = false
    const offset = createClockOffset({
      readDatabaseClock: () => (fails ? Promise.reject(new Error('away')) : Promise.resolve(7000)),
      toleranceMs: 2000,
      everyMs: 10_000,
      wallNow: () => 7000,
      monotonicNow: () => 1,
    })
    await offset.measure()
    fails = true
    await expect(offset.measure()).rejects.toThrow('away')
    expect(offset.read()).toEqual({ kind: 'known', now: 7000, offsetMs: 0 })
  })
})
