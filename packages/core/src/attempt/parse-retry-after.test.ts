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
    ['5s', 5_000],
    ['500ms', 500],
    ['1m30s', 90_000],
    ['1h0m0.5s', 3_600_500],
    ['1500µs', 2],
    ['25h', CAP],
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
    '12 apples',
    '1,5',
    '99999999999',
    '1767268800000',
    'NaN',
    's',
    '5x',
    '-5s',
    '1m 30s',
    '99999999h',
    '5s,',
    `${'1s'.repeat(50)}`,
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

  it.each<[string, number | null]>([
    ['30', 30_000],
    ['0.5', 500],
    [String((NOW + 60_000) / 1_000), 60_000],
    [String(NOW + 60_000), 60_000],
    [at(NOW + 60_000), 60_000],
    [new Date(NOW + 60_000).toISOString(), 60_000],
    [String((NOW - 60_000) / 1_000), 0],
    ['-1', null],
    ['next week', null],
  ])('reads a reset of %j as %s ms where Retry-After says nothing', (reset, ms) => {
    expect(parseRetryAfter({ retryAfter: undefined, date: undefined, reset }, NOW, CAP)).toBe(ms)
    expect(parseRetryAfter({ retryAfter: 'soon', date: undefined, reset }, NOW, CAP)).toBe(ms)
    expect(parseRetryAfter({ retryAfter: '7', date: undefined, reset }, NOW, CAP)).toBe(7_000)
  })

  it("reads a reset against the destination's own clock", () => {
    const reset = String((NOW + 690_000) / 1_000)
    expect(parseRetryAfter({ retryAfter: undefined, date: at(NOW + 600_000), reset }, NOW, CAP)).toBe(90_000)
  })

  it('is bounded by the cap, whatever comes', () => {
    fc.assert(
      fc.property(fc.string(), fc.option(fc.string(), { nil: undefined }), fc.string(), (text, date, reset) => {
        const ms = parseRetryAfter({ retryAfter: text, date, reset }, NOW, CAP)
        return ms === null || (Number.isInteger(ms) && ms >= 0 && ms <= CAP)
      }),
      { verbose: 1 },
    )
  })
})
