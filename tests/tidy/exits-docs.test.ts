import { readFileSync } from 'node:fs'
import { EXITS, type Exit, HAPPENINGS, PLACES } from '@counterfoil/core'
import { describe, expect, it } from 'vitest'

const docs = readFileSync(new URL('../../docs/delivery-lifecycle.md', import.meta.url), 'utf8')

/** What may follow, in the words of the table: the places it may go to, then whether it may stay or be refused. */
function wordExit({ to, stays, refused, never }: Exit): string {
  if (never !== null) return '–'
  return [
    ...to.map((place) => `**${word(place)}**`),
    ...(stays ? ['stays'] : []),
    ...(refused ? ['refused'] : []),
  ].join(', ')
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

const word = (name: string) => name.replaceAll('_', ' ')

function exitsTable(): string {
  const rows = HAPPENINGS.map((one) => [word(one), ...PLACES.map((place) => wordExit(EXITS[one][place]))])
  return table(['what happens', ...PLACES.map(word)], rows)
}

/** Each reason once, with every place that it holds for. */
function refusalsTable(): string {
  const rows = HAPPENINGS.flatMap((one) => {
    const reasons = [...new Set(PLACES.map((place) => EXITS[one][place].refused).filter((text) => text !== null))]
    return reasons.map((why) => {
      const places = PLACES.filter((place) => EXITS[one][place].refused === why)
      return [word(one), places.map(word).join(', '), why]
    })
  })
  return table(['what is refused', 'where', 'because'], rows)
}

describe('docs/delivery-lifecycle.md', () => {
  it('shows every exit of every place exactly as the code has it (I12)', () => {
    expect(docs).toContain(`\n${exitsTable()}\n`)
  })

  it('says why what is refused is refused', () => {
    expect(docs).toContain(`\n${refusalsTable()}\n`)
  })
})
