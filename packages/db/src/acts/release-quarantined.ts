import type { Disposition, Reference } from '@counterfoil/core'
import type pg from 'pg'
import type { Database } from '../connection/database.js'
import { releaseDelivery } from '../intake/release-delivery.js'
import type { ActRefusal, ActRequest } from './act-result.js'
import { recordAct } from './record-act.js'
import { runAct } from './run-act.js'

export type ReleaseQuarantinedResult =
  | {
      readonly kind: 'released'
      readonly act: string
      /** What its transition did; `null`: there was none. */
      readonly outcome: string | null
      readonly destinations: readonly string[]
    }
  | ActRefusal

export type DiscardResult = { readonly kind: 'discarded'; readonly act: string } | ActRefusal

/** What today's configuration makes of a quarantined delivery. */
export type PlannedRelease = {
  readonly disposition: Extract<Disposition, { kind: 'act' }>
  /** It was kept without any, since nobody could read it then. */
  readonly references: readonly Reference[]
}

/** Gives a quarantined delivery what today's configuration asks for it, planned from its stored bytes. */
export function releaseQuarantined(
  database: Database,
  deliveryUuid: string,
  { disposition, references }: PlannedRelease,
  request: ActRequest,
): Promise<ReleaseQuarantinedResult> {
  return runAct<ReleaseQuarantinedResult>(
    database,
    async (client) => {
      const refusal = await lockQuarantined(client, deliveryUuid)
      if (refusal !== null) return refusal
      const detail = { from: 'quarantined', to: 'act', actions: disposition.entries.length }
      const act = await recordAct(client, 'release', request, { delivery: deliveryUuid, detail })
      const released = await releaseDelivery(client, deliveryUuid, disposition)
      if (released.kind === 'released') {
        await writeReferences(client, deliveryUuid, references)
        return { ...released, act }
      }
      return released.kind === 'not_found' ? released : conflict(released.kind.replace('_', ' '), deliveryUuid)
    },
    (result) => result.kind === 'released',
  )
}

/** Drops a quarantined delivery for good: the claim stays, so a repeat of it is absorbed. */
export function discardQuarantined(
  database: Database,
  deliveryUuid: string,
  request: ActRequest,
): Promise<DiscardResult> {
  return runAct<DiscardResult>(
    database,
    async (client) => {
      const refusal = await lockQuarantined(client, deliveryUuid)
      if (refusal !== null) return refusal
      const detail = { from: 'quarantined', to: 'discarded' }
      return {
        kind: 'discarded',
        act: await recordAct(client, 'discard', request, { delivery: deliveryUuid, detail }),
      }
    },
    (result) => result.kind === 'discarded',
  )
}

/** A claim is evidence that nobody may update, not even lock; an advisory lock on its id makes acts on it take turns. */
async function lockQuarantined(client: pg.PoolClient, deliveryUuid: string): Promise<ActRefusal | null> {
  await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('counterfoil release ' || $1, 0))`, [deliveryUuid])
  const { rows } = await client.query<{ disposition: string; actor: string | null; action: string | null }>(
    `SELECT d.disposition, a.actor, a.action FROM counterfoil.delivery d
     LEFT JOIN counterfoil.act a ON a.delivery = d.id AND a.action IN ('release', 'discard')
     WHERE d.id = $1 LIMIT 1`,
    [deliveryUuid],
  )
  const found = rows[0]
  if (found === undefined) return { kind: 'not_found' }
  if (found.disposition !== 'quarantined') return conflict('it is not quarantined', deliveryUuid)
  if (found.action === null) return null
  const done = found.action === 'release' ? 'released' : 'discarded'
  return conflict(`${found.actor ?? 'somebody'} has already ${done} it`, deliveryUuid)
}

async function writeReferences(client: pg.PoolClient, deliveryUuid: string, references: readonly Reference[]) {
  await client.query(
    `INSERT INTO counterfoil.reference (value, name, delivery, personal)
     SELECT value, name, $1, personal FROM unnest($2::text[], $3::text[], $4::boolean[]) AS r (value, name, personal)
     ON CONFLICT DO NOTHING`,
    [
      deliveryUuid,
      references.map(({ value }) => value),
      references.map(({ name }) => name),
      references.map(({ personal }) => personal),
    ],
  )
}

function conflict(why: string, deliveryUuid: string): ActRefusal {
  return { kind: 'conflict', state: 'quarantined', why, next: `Look again: counterfoil show ${deliveryUuid}.` }
}
