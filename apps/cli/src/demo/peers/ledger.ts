import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** One line of a peer's own book. Nobody but the peer writes it, so it can contradict Counterfoil. */
export type LedgerLine = {
  readonly at: string
  readonly kind: string
  readonly [field: string]: string | number | boolean | null
}

export type Ledger = {
  readonly append: (kind: string, fields: Readonly<Record<string, string | number | boolean | null>>) => void
  readonly lines: () => readonly LedgerLine[]
}

/** An append-only JSONL file. A line is written before the peer answers, so a killed peer has forgotten nothing. */
export function openLedger(file: string): Ledger {
  mkdirSync(dirname(file), { recursive: true })
  const lines: LedgerLine[] = existsSync(file) ? readLines(file) : []
  return {
    append: (kind, fields) => {
      const line = { at: new Date().toISOString(), kind, ...fields }
      appendFileSync(file, `${JSON.stringify(line)}\n`)
      lines.push(line)
    },
    lines: () => lines,
  }
}

/** Lines whose fields have exactly these values; no value, no condition. */
export function selectLines(ledger: Ledger, wanted: URLSearchParams): readonly LedgerLine[] {
  const conditions = [...wanted]
  return ledger
    .lines()
    .filter((line) => conditions.every(([field, value]) => Object.hasOwn(line, field) && String(line[field]) === value))
}

function readLines(file: string): LedgerLine[] {
  return readFileSync(file, 'utf8').split('\n').flatMap(parseLine)
}

/** A peer that was killed while it wrote leaves half a line at the end: that one is not counted. */
function parseLine(line: string): LedgerLine[] {
  try {
    return line === '' ? [] : [JSON.parse(line) as LedgerLine]
  } catch {
    return []
  }
}
