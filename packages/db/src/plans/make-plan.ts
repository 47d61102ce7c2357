import { randomBytes } from 'node:crypto'
import { createUuidV7, judgeCancel, judgeRedrive, judgeSettle } from '@counterfoil/core'
import type pg from 'pg'
import type { ActRequest } from '../acts/act-result.js'
import type { DestinationContracts } from '../acts/destination-contracts.js'
import { recordAct } from '../acts/record-act.js'
import { runAct } from '../acts/run-act.js'
import type { Database } from '../connection/database.js'
import { findCandidates } from './find-candidates.js'
import type { PlanAction, PlanFilter } from './plan-types.js'
import { type EntryPicture, readPictures } from './read-pictures.js'

export type MakePlanResult =
  | { readonly kind: 'planned'; readonly plan: string; readonly included: number; readonly excluded: number }
  /** Nothing matches, so there is nothing to plan. */
  | { readonly kind: 'nothing' }

type JudgedItem = EntryPicture & { readonly refusal: { readonly because: string; readonly why: string } | null }

/**
 * Freezes which entries an act is to be done to, each with how it stands and, where it is left out, why. Changes none of
 * them: that is what running the plan does.
 */
export function makePlan(
  database: Database,
  action: PlanAction,
  filter: PlanFilter,
  request: ActRequest,
  destinations: DestinationContracts,
): Promise<MakePlanResult> {
  return runAct<MakePlanResult>(
    database,
    async (client) => {
      const { entries, cut } = await findCandidates(client, action, filter)
      if (entries.length === 0) return { kind: 'nothing' }
      const pictures = await readPictures(client, entries)
      const items = pictures.map((picture) => ({ ...picture, refusal: judgeItem(action, picture, destinations) }))
      const included = items.filter((item) => item.refusal === null).length
      const plan = createUuidV7(Date.now(), randomBytes(16))
      const detail = { step: 'plan', plan, action: action.kind, included, excluded: items.length - included }
      const act = await recordAct(client, 'bulk', request, { destination: filter.destination, detail })
      await writePlan(client, { plan, action, filter, request, act, cut })
      await writeItems(client, plan, items)
      return { kind: 'planned', plan, included, excluded: items.length - included }
    },
    (result) => result.kind === 'planned',
  )
}

function judgeItem(action: PlanAction, { entry, readAt }: EntryPicture, destinations: DestinationContracts) {
  if (action.kind === 'redrive') {
    const contract = destinations.get(entry.destination) ?? 'removed'
    const judged = judgeRedrive({ entry, contract, now: readAt })
    return judged.kind === 'safe' ? null : judged
  }
  const judged = action.kind === 'settle' ? judgeSettle(entry, readAt, null) : judgeCancel(entry, readAt)
  return judged.kind === 'allowed' ? null : judged
}

type NewPlan = {
  readonly plan: string
  readonly action: PlanAction
  readonly filter: PlanFilter
  readonly request: ActRequest
  readonly act: string
  readonly cut: boolean
}

async function writePlan(client: pg.PoolClient, { plan, action, filter, request, act, cut }: NewPlan): Promise<void> {
  const { kind, ...detail } = action
  await client.query(
    `INSERT INTO counterfoil.plan (id, action, filter, detail, reason, made_by, act, cut)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [plan, kind, JSON.stringify(filter), JSON.stringify(detail), request.reason, request.actor, act, cut],
  )
}

async function writeItems(client: pg.PoolClient, plan: string, items: readonly JudgedItem[]): Promise<void> {
  await client.query(
    `INSERT INTO counterfoil.plan_item (plan, number, entry, state, reason, seen_version, included, because, why)
     SELECT $1, number, entry, state, reason, seen_version, because IS NULL, because, why
     FROM unnest($2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
          WITH ORDINALITY AS i (entry, state, reason, seen_version, because, why, number)`,
    [
      plan,
      items.map(({ entry }) => entry.id),
      items.map(({ entry }) => entry.state),
      items.map(({ entry }) => entry.reason),
      items.map(({ version }) => version),
      items.map(({ refusal }) => refusal?.because ?? null),
      items.map(({ refusal }) => refusal?.why ?? null),
    ],
  )
}
