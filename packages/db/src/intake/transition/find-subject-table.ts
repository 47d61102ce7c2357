import type { ConditionalUpdate } from '@counterfoil/core'
import type { ClientBase } from 'pg'
import { readSubjectTable, type SubjectTable } from './subject-table.js'

export type FindTable = (client: ClientBase, transition: ConditionalUpdate) => Promise<SubjectTable>

/** Looks each transition's table up once; a failed look-up is tried again by the next push. */
export function createTableFinder(): FindTable {
  const found = new Map<ConditionalUpdate, SubjectTable>()
  return async (client, transition) => {
    const known = found.get(transition)
    if (known !== undefined) return known
    const table = await readSubjectTable(client, transition)
    found.set(transition, table)
    return table
  }
}
