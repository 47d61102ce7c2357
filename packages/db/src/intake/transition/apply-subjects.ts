import type { ClientBase } from 'pg'
import type { SubjectTable } from './subject-table.js'

/** Changes the state of rows that this transaction has locked and judged. Throws when one of them did not change. */
export async function applySubjects(client: ClientBase, table: SubjectTable, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  const { from, to, name } = table.transition
  const { rowCount } = await client.query({ text: table.applySql, values: [ids, to, from] })
  if (rowCount !== ids.length) {
    throw new Error(`transition ${name}: ${ids.length} rows were locked as ${from}, but ${rowCount ?? 0} became ${to}`)
  }
}
