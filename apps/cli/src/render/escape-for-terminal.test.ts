import { describe, expect, it } from 'vitest'
import { escapeForTerminal } from './escape-for-terminal.js'
import { renderTable } from './render-table.js'

describe('escapeForTerminal (B087)', () => {
  it.each([
    ['clear screen', '\u001b[2J', '\\x1b[2J'],
    ['window title', '\u001b]0;owned\u0007', '\\x1b]0;owned\\x07'],
    ['hyperlink', '\u001b]8;;http://evil\u001b\\', '\\x1b]8;;http://evil\\x1b\\'],
    ['clipboard', '\u001b]52;c;aGk=\u0007', '\\x1b]52;c;aGk=\\x07'],
    ['C1 control sequence', '\u009b2J', '\\x9b2J'],
    ['right-to-left override', 'gpj\u202eexe', 'gpj\\u202eexe'],
    ['isolates', '\u2066x\u2069', '\\u2066x\\u2069'],
    ['arabic letter mark', '\u061c', '\\u061c'],
    ['carriage return', 'ok\rgone', 'ok\\x0dgone'],
    ['a forged line', 'ok\n{"level":"info"}', 'ok\\x0a{"level":"info"}'],
    ['line separator', 'a\u2028b', 'a\\u2028b'],
    ['zero width', 'a\u200bb\ufeff', 'a\\u200bb\\ufeff'],
    ['delete and NUL', '\u007f\u0000', '\\x7f\\x00'],
    ['lone surrogates', '\ud800a\udc00', '\\ud800a\\udc00'],
    ['ordinary text in any script', 'Zoë 票 🎫 عربي', 'Zoë 票 🎫 عربي'],
  ])('shows %s instead of obeying it', (_, given, shown) => {
    expect(escapeForTerminal(given)).toBe(shown)
  })

  it('keeps a table in its columns, whatever is in its cells (case B087: terminal escapes)', () => {
    const table = renderTable(
      ['A', 'B'],
      [
        ['\u001b[2J\n', 'x'],
        ['long enough', 'y'],
      ],
    )
    expect(table).toBe('A            B\n\\x1b[2J\\x0a  x\nlong enough  y\n')
  })
})
