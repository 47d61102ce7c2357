import type { Database } from '../connection/database.js'
import { IS_RUNNING } from './plan-lock.js'
import {
  PLAN_STATUSES,
  type PlanAction,
  type PlanEvent,
  type PlanExclusion,
  type PlanFilter,
  type PlanGroup,
  type PlanItem,
  type PlanOnRecord,
  type PlanStatus,
} from './plan-types.js'
import { readProgress } from './read-progress.js'

type PlanRow = {
  id: string
  action: PlanAction['kind']
  filter: PlanFilter
  detail: Record<string, unknown>
  reason: string
  made_by: string
  made_at: Date
  cut: boolean
  running: boolean
}

/** A plan with what is in it, what is left out and why, and how far it has come; `null` when there is none. */
export async function readPlan(database: Database, planId: string): Promise<PlanOnRecord | null> {
  const { pool } = database
  const { rows } = await pool.query<PlanRow>(
    `SELECT p.id, p.action, p.filter, p.detail, p.reason, p.made_by, p.made_at, p.cut, ${IS_RUNNING} AS running
     FROM counterfoil.plan p WHERE p.id = $1`,
    [planId],
  )
  const row = rows[0]
  if (row === undefined) return null
  const included = await pool.query<PlanGroup>(
    `SELECT state, reason, count(*)::int AS count FROM counterfoil.plan_item WHERE plan = $1 AND included
     GROUP BY state, reason ORDER BY count DESC, state, reason`,
    [planId],
  )
  const excluded = await pool.query<PlanExclusion>(
    `SELECT because, min(why) AS why, count(*)::int AS count FROM counterfoil.plan_item
     WHERE plan = $1 AND NOT included GROUP BY because ORDER BY count DESC, because`,
    [planId],
  )
  const events = await pool.query<Omit<PlanEvent, 'at'> & { at: Date }>(
    'SELECT number, kind, detail, actor, at FROM counterfoil.plan_event WHERE plan = $1 ORDER BY number',
    [planId],
  )
  const happened = events.rows.map((event) => ({ ...event, at: event.at.getTime() }))
  const { id, action, filter, detail, reason, cut } = row
  return {
    id,
    action,
    filter,
    detail,
    reason,
    cut,
    madeBy: row.made_by,
    madeAt: row.made_at.getTime(),
    status: row.running ? 'running' : readStatus(happened),
    included: included.rows,
    excluded: excluded.rows,
    progress: await readProgress(pool, planId, null),
    events: happened,
  }
}

/** A run that left no end was killed. */
function readStatus(events: readonly PlanEvent[]): PlanStatus {
  const last = events.filter((event) => event.kind === 'run' || event.kind === 'end').at(-1)
  if (last === undefined) return 'ready'
  return last.kind === 'run' ? 'interrupted' : (PLAN_STATUSES.find((status) => status === last.detail) ?? 'interrupted')
}

/** What a plan does, with what its settlements say. */
export function readAction({ action, detail }: Pick<PlanOnRecord, 'action' | 'detail'>): PlanAction {
  if (action !== 'settle') return { kind: action }
  return {
    kind: 'settle',
    as: detail.as === 'delivered' ? 'delivered' : 'not_delivered',
    evidence: String(detail.evidence),
  }
}

type ItemRow = Omit<PlanItem, 'resultWhy' | 'resultAt' | 'stateNow'> & {
  result_why: string | null
  result_at: Date | null
  state_now: string | null
}

/** Every item of a plan with its result, in order. */
export async function readPlanItems(database: Database, planId: string): Promise<readonly PlanItem[]> {
  const { rows } = await database.pool.query<ItemRow>(
    `SELECT i.number, i.entry, i.included, i.because, i.why, r.result, r.why AS result_why, r.at AS result_at,
            e.state AS state_now
     FROM counterfoil.plan_item i
     LEFT JOIN counterfoil.plan_result r ON r.plan = i.plan AND r.number = i.number
     LEFT JOIN counterfoil.entry e ON e.id = i.entry
     WHERE i.plan = $1 ORDER BY i.number`,
    [planId],
  )
  return rows.map(({ result_why, result_at, state_now, ...item }) => ({
    ...item,
    resultWhy: result_why,
    resultAt: result_at?.getTime() ?? null,
    stateNow: state_now ?? 'gone',
  }))
}
