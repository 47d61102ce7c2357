import type { ConditionalUpdate } from '@counterfoil/core'
import pg, { type ClientBase } from 'pg'

/** How one conditional update reads and changes its table: quoted statements, and the type of its id. */
export type SubjectTable = {
  readonly transition: ConditionalUpdate
  /** `null` for a subject that can't be an id of this table at all. */
  readonly toId: (subject: string) => string | null
  /** Locks `$1` ids and judges nothing; the clock is read after each lock. */
  readonly lockSql: (waits: boolean) => string
  /** Ids of overdue rows, longest overdue first: `$1` grace in ms, `$2` limit, `$3` offset, `$4` the state they are in. */
  readonly overdueSql: string
  readonly existsSql: string
  readonly applySql: string
  /** Names of the columns that come back as `c0`, `c1`, … */
  readonly columns: readonly string[]
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const INTEGER = /^(0|-?[1-9]\d{0,18})$/

/** The id types that a subject can be compared with: each has one way to be written, so push and sweep make one key. */
const ID_TYPES: Readonly<Record<string, (subject: string) => string | null>> = {
  text: (subject) => subject,
  'character varying': (subject) => subject,
  uuid: (subject) => (UUID.test(subject) ? subject.toLowerCase() : null),
  smallint: (subject) => toInteger(subject, 16),
  integer: (subject) => toInteger(subject, 32),
  bigint: (subject) => toInteger(subject, 64),
}

function toInteger(subject: string, bits: number): string | null {
  if (!INTEGER.test(subject)) return null
  return BigInt.asIntN(bits, BigInt(subject)) === BigInt(subject) ? subject : null
}

/** Looks the id's type up. Throws when the table or the column isn't there, or its type has several ways to be written. */
export async function readSubjectTable(client: ClientBase, transition: ConditionalUpdate): Promise<SubjectTable> {
  const table = quoteTable(transition.table)
  const { rows } = await client.query<{ type: string }>(
    `SELECT format_type(a.atttypid, NULL) AS type FROM pg_attribute a
     WHERE a.attrelid = to_regclass($1) AND a.attname = $2 AND NOT a.attisdropped`,
    [table, transition.idColumn],
  )
  const type = rows[0]?.type
  if (type === undefined) {
    throw new Error(`transition ${transition.name}: there is no column ${transition.idColumn} in ${transition.table}`)
  }
  const toId = Object.hasOwn(ID_TYPES, type) ? ID_TYPES[type] : undefined
  if (toId === undefined) {
    throw new Error(
      `transition ${transition.name}: ids of type ${type} are not supported; use text, varchar, uuid or an integer type`,
    )
  }
  return describeTable(transition, table, type, toId)
}

function describeTable(
  transition: ConditionalUpdate,
  table: string,
  type: string,
  toId: (subject: string) => string | null,
): SubjectTable {
  const id = `t.${pg.escapeIdentifier(transition.idColumn)}`
  const state = `t.${pg.escapeIdentifier(transition.stateColumn)}`
  const due = `t.${pg.escapeIdentifier(transition.dueAtColumn)}`
  const columns = [
    ...new Set([transition.idColumn, transition.stateColumn, transition.dueAtColumn, ...transition.returning]),
  ]
  const list = columns.map((column, index) => `t.${pg.escapeIdentifier(column)} AS c${index}`).join(', ')
  const read = (where: string): string => `
WITH locked AS MATERIALIZED (
  SELECT ${id}::text AS subject, ${state}::text AS state, ${due} AS due_at, ${list}
  FROM ${table} t ${where}
),
timed AS MATERIALIZED (
  SELECT locked.*, clock_timestamp() AS judged_at FROM locked
)
SELECT subject, state, ${columns.map((_, index) => `c${index}`).join(', ')}, judged_at::text AS judged_at,
       floor(extract(epoch FROM due_at) * 1000)::float8 AS due_ms,
       coalesce(due_at <= judged_at, false) AS is_due,
       greatest(0, ceil((extract(epoch FROM due_at) - extract(epoch FROM judged_at)) * 1000))::float8 AS remaining_ms
FROM timed`
  return {
    transition,
    toId,
    lockSql: (waits) =>
      read(`WHERE ${id} = ANY ($1::${type}[]) ORDER BY ${id} FOR UPDATE${waits ? '' : ' SKIP LOCKED'}`),
    overdueSql: `SELECT ${id}::text AS subject FROM ${table} t
                 WHERE ${state} = $4 AND ${due} <= clock_timestamp() - $1::float8 * interval '1 millisecond'
                 ORDER BY ${due}, ${id} LIMIT $2 OFFSET $3`,
    existsSql: `SELECT ${id}::text AS subject FROM ${table} t WHERE ${id} = ANY ($1::${type}[])`,
    applySql: `UPDATE ${table} t SET ${pg.escapeIdentifier(transition.stateColumn)} = $2
               WHERE ${id} = ANY ($1::${type}[]) AND ${state} = $3`,
    columns,
  }
}

function quoteTable(table: string): string {
  return table
    .split('.')
    .map((part) => pg.escapeIdentifier(part))
    .join('.')
}
