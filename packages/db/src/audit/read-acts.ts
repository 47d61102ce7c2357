import type { ActOnRecord, TransitionOnRecord } from '@counterfoil/core'
import type pg from 'pg'
import { groupBy, toMs } from './read-snapshot.js'

type ActRow = {
  id: string
  actor: string
  action: ActOnRecord['action']
  reason: string
  entry: string | null
  delivery: string | null
  detail: Record<string, unknown>
  acted_at: Date
}

export type ActsOnRecord = {
  readonly ofEntry: (entry: string) => readonly ActOnRecord[]
  /** Those that are about the delivery itself, not about one of its entries. */
  readonly ofDelivery: (delivery: string) => readonly ActOnRecord[]
}

/** What people did to these deliveries and entries, oldest first. */
export async function readActs(
  client: pg.PoolClient,
  deliveries: readonly string[],
  entries: readonly string[],
): Promise<ActsOnRecord> {
  const { rows } = await client.query<ActRow>(
    `SELECT id, actor, action, reason, entry, delivery, detail, acted_at FROM counterfoil.act
     WHERE entry = ANY($1::uuid[]) OR (delivery = ANY($2::uuid[]) AND entry IS NULL)
     ORDER BY acted_at LIMIT 5000`,
    [entries, deliveries],
  )
  const byEntry = groupBy(rows, (row) => row.entry ?? '')
  const byDelivery = groupBy(rows, (row) => (row.entry === null ? (row.delivery ?? '') : ''))
  return {
    ofEntry: (entry) => (byEntry.get(entry) ?? []).map(toAct),
    ofDelivery: (delivery) => (byDelivery.get(delivery) ?? []).map(toAct),
  }
}

function toAct(row: ActRow): ActOnRecord {
  const { id, actor, action, reason, entry, detail } = row
  return { id, actor, action, reason, entry, detail, actedAt: toMs(row.acted_at) }
}

type TransitionRow = {
  delivery: string
  number: number
  transition: string
  subject: string
  outcome: TransitionOnRecord['outcome']
  decided_by: TransitionOnRecord['decidedBy']
  decided_at: Date
}

/** What the business rows said, in order. */
export async function readTransitions(
  client: pg.PoolClient,
  deliveries: readonly string[],
): Promise<(delivery: string) => readonly TransitionOnRecord[]> {
  const { rows } = await client.query<TransitionRow>(
    `SELECT delivery, number, transition, subject, outcome, decided_by, decided_at
     FROM counterfoil.transition_outcome WHERE delivery = ANY($1::uuid[]) ORDER BY delivery, number`,
    [deliveries],
  )
  const groups = groupBy(rows, (row) => row.delivery)
  return (delivery) =>
    (groups.get(delivery) ?? []).map(({ number, transition, subject, outcome, decided_by, decided_at }) => ({
      number,
      transition,
      subject,
      outcome,
      decidedBy: decided_by,
      decidedAt: toMs(decided_at),
    }))
}
