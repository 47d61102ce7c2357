import { escapeForTerminal } from './escape-for-terminal.js'

export type Cell = string | { readonly text: string; readonly paint: (text: string) => string }

/** Left-aligned columns two spaces apart; every text is escaped, and colours don't count as width. */
export function renderTable(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const table = [head, ...rows].map((row) =>
    row.map((cell) => escapeForTerminal(typeof cell === 'string' ? cell : cell.text)),
  )
  const widths = head.map((_, column) => Math.max(...table.map((row) => [...(row[column] ?? '')].length)))
  const painted = table.map((row, index) =>
    row
      .map((text, column) => {
        const padded = column === row.length - 1 ? text : text + ' '.repeat((widths[column] ?? 0) - [...text].length)
        const cell = index === 0 ? undefined : rows[index - 1]?.[column]
        return cell === undefined || typeof cell === 'string' ? padded : cell.paint(padded)
      })
      .join('  ')
      .trimEnd(),
  )
  return `${painted.join('\n')}\n`
}
