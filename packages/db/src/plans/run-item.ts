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
  const { rows } = await client.query<{ superseded: boolean; stopped: boolean }>(
    `SELECT coalesce(bool_or(kind = 'run' AND number > $2), false) AS superseded,
            coalesce(bool_or(kind = 'stop' AND number > $2), false) AS stopped
     FROM counterfoil.plan_event WHERE plan = $1`,
    [run.plan, run.run],
  )
  if (rows[0]?.superseded === true) return { kind: 'superseded' }
  if (rows[0]?.stopped === true) return { kind: 'stopped' }
  const next = await client.query<{ number: number; entry: string; seen_version: string }>(
    `SELECT i.number, i.entry, i.seen_version FROM counterfoil.plan_item i
     WHERE i.plan = $1 AND i.included
       AND NOT EXISTS (SELECT FROM counterfoil.plan_result r WHERE r.plan = i.plan AND r.number = i.number)
     ORDER BY i.number LIMIT 1`,
    [run.plan],
  )
  const item = next.rows[0]
  if (item === undefined) return { kind: 'none_left' }
  const { number, entry } = item
  const done = await actOn(client, run, await lockEntry(client, entry), item.seen_version, number)
  await client.query(
    `INSERT INTO counterfoil.plan_result (plan, number, run, result, why, act) VALUES ($1, $2, $3, $4, $5, $6)`,
    [run.plan, number, run.run, done.act === null ? 'skipped' : 'done', done.why, done.act],
  )
  return done.act === null ? { kind: 'skipped', number, entry, why: done.why } : { kind: 'done', number, entry }
}

type Done = { readonly act: string; readonly why: null } | { readonly act: null; readonly why: string }

async function actOn(
  client: pg.PoolClient,
  run: PlanRun,
  locked: LockedEntry | null,
  seenVersion: string,
  number: number,
): Promise<Done> {
  if (locked === null) return { act: null, why: 'it is no longer on record' }
  if (locked.version !== seenVersion) {
    return {
      act: null,
      why: `it has changed since the plan was made, and is ${locked.entry.state.replace('_', ' ')} now`,
    }
  }
  const result = await doAct(client, run, locked, { plan: run.plan, item: number })
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
