import type { ActKind } from '@counterfoil/core'
import type pg from 'pg'
import type { ActRequest } from './act-result.js'

export type ActSubject = {
  readonly entry?: string
  readonly delivery?: string
  readonly destination?: string
  /** What it is about to change, and the evidence that was given. Never a payload or a secret. */
  readonly detail: Readonly<Record<string, unknown>>
}

/** Writes the act down; the change that it announces follows in the same transaction (I9). Returns the act's id. */
export async function recordAct(
  client: pg.PoolClient,
  action: ActKind,
  request: ActRequest,
  subject: ActSubject,
): Promise<string> {
  const { rows } = await client.query<{ id: string }>(
    `INSERT INTO counterfoil.act (actor, action, reason, entry, delivery, destination, detail)
     VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id`,
    [
      request.actor,
      action,
      request.reason,
      subject.entry ?? null,
      subject.delivery ?? null,
      subject.destination ?? null,
      JSON.stringify(subject.detail),
    ],
  )
  const act = rows[0]
  if (act === undefined) throw new Error('the act was not written')
  return act.id
}
