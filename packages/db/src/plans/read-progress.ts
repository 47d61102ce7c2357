import type { PlanProgress } from '@counterfoil/core'
import type pg from 'pg'

type Row = {
  remaining: number
  done: number
  skipped: number
  succeeded: number
  failed: number
  under_way: number
  canary_done: number
  canary_succeeded: number
  canary_failed: number
}

/** What became of an item that is done: an act that ends an entry is a success by itself. */
const SUCCEEDED = `r.result = 'done' AND (p.action <> 'redrive' OR e.state IN ('delivered', 'settled'))`
const FAILED = `r.result = 'done' AND p.action = 'redrive' AND e.state IN ('dead_lettered', 'uncertain', 'cancelled')`

/** How far a plan has come. `canary`: of this run, the first so many that were done; `null`: none is waited for. */
export async function readProgress(
  client: Pick<pg.ClientBase, 'query'>,
  plan: string,
  canary: { readonly run: number; readonly size: number } | null,
): Promise<PlanProgress> {
  const { rows } = await client.query<Row>(
    `WITH item AS (
       SELECT i.included AND r.plan IS NULL AS remaining, r.result, coalesce(${SUCCEEDED}, false) AS succeeded,
              coalesce(${FAILED}, false) AS failed,
              row_number() OVER (PARTITION BY r.run, r.result ORDER BY r.number) <= $3 AND r.run = $2
                AND r.result = 'done' AS canary
       FROM counterfoil.plan p
       JOIN counterfoil.plan_item i ON i.plan = p.id
       LEFT JOIN counterfoil.plan_result r ON r.plan = i.plan AND r.number = i.number
       LEFT JOIN counterfoil.entry e ON e.id = i.entry
       WHERE p.id = $1)
     SELECT count(*) FILTER (WHERE remaining)::int AS remaining,
            count(*) FILTER (WHERE result = 'done')::int AS done,
            count(*) FILTER (WHERE result = 'skipped')::int AS skipped,
            count(*) FILTER (WHERE succeeded)::int AS succeeded,
            count(*) FILTER (WHERE failed)::int AS failed,
            count(*) FILTER (WHERE result = 'done' AND NOT succeeded AND NOT failed)::int AS under_way,
            count(*) FILTER (WHERE canary)::int AS canary_done,
            count(*) FILTER (WHERE canary AND succeeded)::int AS canary_succeeded,
            count(*) FILTER (WHERE canary AND failed)::int AS canary_failed
     FROM item`,
    [plan, canary?.run ?? 0, canary?.size ?? 0],
  )
  const row = rows[0]
  if (row === undefined) throw new Error('the progress of a plan could not be counted')
  const { remaining, done, skipped, succeeded, failed, under_way: underWay } = row
  const ofCanary = { done: row.canary_done, succeeded: row.canary_succeeded, failed: row.canary_failed }
  return { remaining, done, skipped, succeeded, failed, underWay, canary: canary === null ? null : ofCanary }
}
