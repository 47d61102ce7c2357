import { describe, expect, it } from 'vitest'
import { boundText } from './bound-text.js'

describe('boundText', () => {
  it.each([
    ['plain', 'plain'],
    ['grüße 😀', 'grüße 😀'],
    ['a\nb\u0000', 'a\\u{a}b\\u{0}'],
    ['\u001b[31mred', '\\u{1b}[31mred'],
    ['\u009b31m', '\\u{9b}31m'],
    ['\u202egpj.exe', '\\u{202e}gpj.exe'],
    ['\ud800', '\\u{d800}'],
    ['line\u2028break', 'line\\u{2028}break'],
  ])('%j becomes %j', (text, bounded) => {
    expect(boundText(text)).toBe(bounded)
  })

  it('cuts long text and says how long it was', () => {
    expect(boundText('x'.repeat(10_000))).toBe(`${'x'.repeat(128)}… (10000)`)
  })
})
