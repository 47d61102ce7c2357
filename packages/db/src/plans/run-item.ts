import type pg from 'pg'
import type { ActRefusal, ActRequest } from '../acts/act-result.js'
import { cancelLocked } from '../acts/cancel-entry.js'
import type { DestinationContracts } from '../acts/destination-contracts.js'
import { type LockedEntry, lockEntry } from '../acts/lock-entry.js'
import { redriveLocked } from '../acts/redrive-entry.js'
import { runAct } from '../acts/run-act.js'
import { settleLocked } from '../acts/settle-entry.js'
import type { Database } from '../connection/database.js'
import type { PlanAction } from './plan-types.js'
import { readOrder } from './read-order.js'

export type PlanRun = {
  readonly plan: string
  /** Number of the event that began this run. */
  readonly run: number
  readonly action: PlanAction
  readonly request: ActRequest
  readonly destinations: DestinationContracts
}

export type ItemResult =
  | { readonly kind: 'done'; readonly number: number; readonly entry: string }
  | { readonly kind: 'skipped'; readonly number: number; readonly entry: string; readonly why: string }
  /** Another runner has just done it. */
  | { readonly kind: 'taken' }
  /** Nothing is left to do. */
  | { readonly kind: 'none_left' }
  /** A person has asked this run to stop. */
  | { readonly kind: 'stopped' }
  /** Another run has begun since: this one has lost its lock and must not go on. */
  | { readonly kind: 'superseded' }

/**
 * Does the next item of a plan: the act, what it changes and the item's result are one transaction, so that a killed
 * run leaves each item either done with a result or untouched (I9).
 */
export function runNextItem(database: Database, run: PlanRun): Promise<ItemResult> {
  return runAct(
    database,
    (client) => runItem(client, run),
    (result) => result.kind === 'done' || result.kind === 'skipped',
  )
}

async function runItem(client: pg.PoolClient, run: PlanRun): Promise<ItemResult> {
  const { rows } = await client.query<{ number: number; entry: string; seen_version: string }>(NEXT_ITEM, [run.plan])
  const item = rows[0]
  if (item === undefined) return { kind: 'none_left' }
  const { number, entry } = item
  const locked = await lockEntry(client, entry)
  // After the lock: whoever had the entry before us may have been another runner of this plan.
  const order = await readOrder(client, run.plan, run.run)
  if (order !== null) return { kind: order }
  const result = await client.query(HAS_RESULT, [run.plan, number])
  if (result.rowCount === 1) return { kind: 'taken' }

  const done = await actOn(client, run, locked, item)
  await client.query(
    `INSERT INTO counterfoil.plan_result (plan, number, run, result, why, act) VALUES ($1, $2, $3, $4, $5, $6)`,
    [run.plan, number, run.run, done.act === null ? 'skipped' : 'done', done.why, done.act],
  )
  return done.act === null ? { kind: 'skipped', number, entry, why: done.why } : { kind: 'done', number, entry }
}

/** Results come in the order of the items, so nothing before the newest one is looked at again. */
const NEXT_ITEM = `
SELECT number, entry, seen_version FROM counterfoil.plan_item
 WHERE plan = $1 AND included
   AND number > (SELECT coalesce(max(number), 0) FROM counterfoil.plan_result WHERE plan = $1)
 ORDER BY number LIMIT 1`

const HAS_RESULT = 'SELECT FROM counterfoil.plan_result WHERE plan = $1 AND number = $2'

type Done = { readonly act: string; readonly why: null } | { readonly act: null; readonly why: string }

async function actOn(
  client: pg.PoolClient,
  run: PlanRun,
  locked: LockedEntry | null,
  item: { readonly number: number; readonly seen_version: string },
): Promise<Done> {
  if (locked === null) return { act: null, why: 'it is no longer on record' }
  if (locked.version !== item.seen_version) {
    return {
      act: null,
      why: `it has changed since the plan was made, and is ${locked.entry.state.replace('_', ' ')} now`,
    }
  }
  const result = await doAct(client, run, locked, { plan: run.plan, item: item.number })
  return 'act' in result ? { act: result.act, why: null } : { act: null, why: wordRefusal(result) }
}

function doAct(client: pg.PoolClient, run: PlanRun, locked: LockedEntry, detail: Readonly<Record<string, unknown>>) {
  const { action, request, destinations } = run
  switch (action.kind) {
    case 'redrive':
      return redriveLocked(client, locked, request, destinations, detail)
    case 'settle':
      return settleLocked(client, locked, { ...request, ...action, seenAttempt: null }, detail)
    case 'cancel':
      return cancelLocked(client, locked, request, detail)
  }
}

function wordRefusal(refusal: ActRefusal): string {
  return refusal.kind === 'not_found' ? 'it is no longer on record' : refusal.why
}
