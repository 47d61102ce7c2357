import type pg from 'pg'
import type { PlanEvent } from './plan-types.js'

export type NewPlanEvent = Pick<PlanEvent, 'kind' | 'detail' | 'actor'> & { readonly act: string | null }

/** Adds to what happened to a plan, one after the other. Returns the event's number. */
export async function recordPlanEvent(client: pg.PoolClient, plan: string, event: NewPlanEvent): Promise<number> {
  await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('counterfoil plan events ' || $1, 0))`, [plan])
  const { rows } = await client.query<{ number: number }>(
    `INSERT INTO counterfoil.plan_event (plan, number, kind, detail, actor, act)
     SELECT $1, 1 + coalesce(max(number), 0), $2, $3, $4, $5 FROM counterfoil.plan_event WHERE plan = $1
     RETURNING number`,
    [plan, event.kind, event.detail, event.actor, event.act],
  )
  return rows[0]?.number ?? 0
}
