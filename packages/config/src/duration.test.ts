import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatDuration, parseDuration } from './duration.js'
import { findNearestName } from './nearest-name.js'

describe('durations', () => {
  test.each([
    [250, 250],
    ['250ms', 250],
    ['5s', 5_000],
    ['2.5s', 2_500],
    ['2m', 120_000],
    ['24h', 86_400_000],
    ['3d', 259_200_000],
    [0, 0],
  ])('%j is %i ms', (value, ms) => {
    expect(parseDuration(value)).toBe(ms)
  })

  test.each([
    ['5'],
    ['5 s'],
    ['-5s'],
    ['s'],
    ['1w'],
    ['1e3s'],
    [-1],
    [Number.NaN],
    [Number.POSITIVE_INFINITY],
    [null],
    [{}],
  ])('%j is none', (value) => {
    expect(parseDuration(value)).toBeNull()
  })

  test('what is printed reads back as the same', () => {
    fc.assert(fc.property(fc.nat(1e10), (ms) => parseDuration(formatDuration(ms)) === ms))
  })
})

describe('findNearestName', () => {
  test('finds a slip, also in case; has no idea for something else', () => {
    expect(findNearestName('bodylimit', ['bodyLimit', 'routes'])).toBe('bodyLimit')
    expect(findNearestName('rotues', ['bodyLimit', 'routes'])).toBe('routes')
    expect(findNearestName('colour', ['bodyLimit', 'routes'])).toBeNull()
    expect(findNearestName('x', [])).toBeNull()
  })
})
