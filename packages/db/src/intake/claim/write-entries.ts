import type { ClientBase } from 'pg'
import { type AskedEntry, encodeEntries } from './encode-entries.js'
import { ENTRY_COLUMNS, ENTRY_PHASES, ENTRY_RESULT, entryArrays } from './statements.js'

const WRITE = `
WITH asked AS MATERIALIZED (
  SELECT e.* FROM unnest(${entryArrays(1)}) WITH ORDINALITY AS e(${ENTRY_COLUMNS})
),${ENTRY_PHASES}
SELECT ${ENTRY_RESULT}`

/**
 * Writes the entries of deliveries that this transaction has claimed or locked, one per (destination, key) (I3), and links
 * deliveries to entries that exist already. Returns those that are new. Fails with SQLSTATE 40001 when a concurrent
 * entry isn't visible yet: the transaction is to be run again.
 */
export async function writeEntries(client: ClientBase, asked: readonly AskedEntry[]): Promise<readonly AskedEntry[]> {
  if (asked.length === 0) return []
  const { rows } = await client.query<{ unwritten: number[] }>({
    name: 'counterfoil_write_entries',
    text: WRITE,
    values: encodeEntries(asked),
  })
  const unwritten = new Set(rows[0]?.unwritten)
  return asked.filter((_, index) => !unwritten.has(index + 1))
}
