import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cleanText } from './clean-text.js'

describe('cleanText', () => {
  it.each([
    [null, null],
    ['', null],
    [' \r\n\0 ', null],
    ['plain', 'plain'],
    ['two\nlines', 'two lines'],
    ['a\0b', 'a b'],
    ['\ud800x', '\ufffdx'],
    ['x\udc00', 'x\ufffd'],
    ['\u001b[31mred', '[31mred'],
    ['a\u202eb', 'a b'],
    ['naïve 🐘', 'naïve 🐘'],
  ])('makes %j into %j', (text, clean) => {
    expect(cleanText(text)).toBe(clean)
  })

  it('cuts between characters', () => {
    expect(cleanText('é'.repeat(900))).toBe('é'.repeat(500))
    expect(cleanText(`a${'🐘'.repeat(900)}`)).toBe(`a${'🐘'.repeat(249)}`)
    expect(cleanText('x'.repeat(1_000_000))).toHaveLength(1_000)
  })

  it('fits and is well formed, whatever comes', () => {
    const anything = fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units))
    fc.assert(
      fc.property(anything, (text) => {
        const clean = cleanText(text) ?? ''
        return Buffer.byteLength(clean) <= 1_000 && !/[\p{Cc}\p{Surrogate}]/u.test(clean)
      }),
      { numRuns: 2_000, verbose: 1 },
    )
  })
})
