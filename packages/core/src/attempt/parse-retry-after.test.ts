import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseRetryAfter } from './parse-retry-after.js'

const NOW = Date.UTC(2026, 0, 1, 12)
const CAP = 21_600_000
const at = (ms: number) => new Date(ms).toUTCString()

function parse(retryAfter: string | undefined, date?: string): number | null {
  return parseRetryAfter({ retryAfter, date }, NOW, CAP)
}

describe('parseRetryAfter', () => {
  it.each([
    ['0', 0],
    ['120', 120_000],
    [' 7 ', 7_000],
    ['1.5', 1_500],
    ['0.0001', 1],
    ['21601', CAP],
  ])('reads %j as %d ms', (text, ms) => {
    expect(parse(text)).toBe(ms)
  })

  it.each([
    undefined,
    '',
    '-5',
    '1e3',
    '0x10',
    'soon',
    '5s',
    '12 apples',
    '1,5',
    '99999999999',
    '1767268800000',
    'NaN',
    'Fri',
    'Mon, 99 Foo 2026',
    'Fri, 31 Dec 9999 23:59:59 GMT',
    `Mon, ${'x'.repeat(10_000)}`,
  ])('leaves %j to the own backoff', (text) => {
    expect(parse(text)).toBeNull()
  })

  it('reads an HTTP-date against our clock when the answer has no date', () => {
    expect(parse(at(NOW + 90_000))).toBe(90_000)
    expect(parse(at(NOW - 90_000))).toBe(0)
  })

  it("reads an HTTP-date against the destination's own clock when that is plausible", () => {
    expect(parse(at(NOW + 690_000), at(NOW + 600_000))).toBe(90_000)
    expect(parse(at(NOW + 90_000), 'Thu, 01 Jan 1970 00:00:00 GMT')).toBe(90_000)
  })

  it('understands the two old date forms', () => {
    expect(parse('Thursday, 01-Jan-26 12:01:00 GMT')).toBe(60_000)
    expect(parse('Thu Jan  1 12:01:00 2026')).toBe(60_000)
  })

  it('is bounded by the cap, whatever comes', () => {
    fc.assert(
      fc.property(fc.string(), fc.option(fc.string(), { nil: undefined }), (text, date) => {
        const ms = parse(text, date)
        return ms === null || (Number.isInteger(ms) && ms >= 0 && ms <= CAP)
      }),
      { verbose: 1 },
    )
  })
})
