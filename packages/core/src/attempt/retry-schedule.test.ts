import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nextDelayMs, retryDelayMs } from './retry-schedule.js'

const law = { firstMs: 5_000, capMs: 3_600_000 }
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

describe('retryDelayMs', () => {
  it('comes back after about 5 s the first time', () => {
    expect(retryDelayMs(1, law, () => 0)).toBe(4_000)
    expect(retryDelayMs(1, law, () => 0.5)).toBe(5_000)
    expect(retryDelayMs(1, law, () => 0.999_999)).toBe(6_000)
  })

  it('spreads later tries over a range that doubles up to the cap', () => {
    expect(retryDelayMs(2, law, () => 0)).toBe(5_000)
    expect(retryDelayMs(2, law, () => 0.999_999_9)).toBe(20_000)
    expect(retryDelayMs(3, law, () => 0.999_999_9)).toBe(40_000)
    expect(retryDelayMs(12, law, () => 0.999_999_99)).toBe(3_600_000)
  })

  it('is bounded for every count and every chance', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -5, max: 1_000_000 }),
        fc.integer({ min: 0, max: 86_400_000 }),
        fc.integer({ min: 0, max: 86_400_000 }),
        random,
        (failures, firstMs, capMs, chance) => {
          const ms = retryDelayMs(failures, { firstMs, capMs }, () => chance)
          return Number.isInteger(ms) && ms >= Math.floor(0.8 * Math.min(firstMs, capMs)) && ms <= capMs
        },
      ),
      { verbose: 1 },
    )
  })
})

describe('nextDelayMs', () => {
  it('never comes before the destination said, and little after', () => {
    fc.assert(
      fc.property(fc.nat(1e7), fc.nat(21_600_000), random, (ownMs, wishMs, chance) => {
        const ms = nextDelayMs(ownMs, wishMs, () => chance)
        return ms >= Math.max(ownMs, wishMs) && ms <= Math.max(ownMs, wishMs + 5_000)
      }),
      { verbose: 1 },
    )
  })

  it('is the own backoff without a wish', () => {
    expect(nextDelayMs(123, null, () => 0.5)).toBe(123)
  })
})
