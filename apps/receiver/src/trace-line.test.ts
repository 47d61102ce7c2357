import { describe, expect, it } from 'vitest'
import { formatTraceLine, parseTraceLine } from './trace-line.js'

const trace = {
  id: '01900000-0000-7000-8000-000000000001',
  source: 'tickets',
  deliveryId: 'd-1 ă😀',
  identityDigest: Buffer.alloc(32, 7),
  seenAt: 1_767_225_600_000.25,
  cause: 'not_started: queue_full',
}

describe('a line of the spool', () => {
  it('is read back as it was written', () => {
    expect(parseTraceLine(formatTraceLine(trace))).toEqual(trace)
  })

  it.each([
    ['torn', formatTraceLine(trace).slice(0, 40)],
    ['with a NUL', formatTraceLine({ ...trace, deliveryId: 'a\0b' })],
    ['with a lone surrogate', formatTraceLine({ ...trace, cause: '\ud800' })],
    ['without a time', formatTraceLine({ ...trace, seenAt: Number.NaN })],
    ['of a time that no database knows', formatTraceLine({ ...trace, seenAt: 1e300 })],
    ['of another kind', '[]'],
    ['null', 'null'],
  ])('is left out when it is one that would hold up all others: %s', (_what, line) => {
    expect(parseTraceLine(line)).toBeNull()
  })
})
