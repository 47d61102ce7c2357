import { InvalidArgumentError } from 'commander'
import { describe, expect, it } from 'vitest'
import { parseCount, parseCursor, parseDuration, parseId, parseMoment } from './parse-options.js'
import { parseReason } from './parse-reason.js'

describe('options', () => {
  it('read durations, days, instants and what is ago', () => {
    expect(parseDuration('500ms')).toBe(500)
    expect(parseDuration('1.5h')).toBe(5_400_000)
    expect(parseMoment('2026-11-29')).toBe(Date.UTC(2026, 10, 29))
    expect(parseMoment('2026-11-29T14:00')).toBe(Date.UTC(2026, 10, 29, 14))
    expect(parseMoment('2026-11-29 14:00+01:00')).toBe(Date.UTC(2026, 10, 29, 13))
    expect(Math.abs(Date.now() - 7 * 86_400_000 - parseMoment('7d'))).toBeLessThan(1_000)
    expect(parseCount(1, 10)('7')).toBe(7)
  })

  it.each([
    ['a duration without a unit', () => parseDuration('5')],
    ['a negative duration', () => parseDuration('-5s')],
    ['a moment that is none', () => parseMoment('2026-13-40')],
    ['a word for a moment', () => parseMoment('yesterday')],
    ['a count out of bounds', () => parseCount(1, 10)('11')],
    ['a count that is no number', () => parseCount(1, 10)('1e1')],
    ['a cursor that was made up', () => parseCursor("x' OR 1=1")],
    ['a short id', () => parseId('018f')],
    ['a reason of two characters', () => parseReason(' ab ')],
    ['a reason with NUL', () => parseReason('abc\0def')],
    ['an endless reason', () => parseReason('x'.repeat(1001))],
  ])('refuse %s', (_, parse) => {
    expect(parse).toThrow(InvalidArgumentError)
  })
})
