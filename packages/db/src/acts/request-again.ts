import { randomBytes } from 'node:crypto'
import { createUuidV7, deriveAgainKey, judgeSendAgain } from '@counterfoil/core'
import type pg from 'pg'
import type { Database } from '../connection/database.js'
import type { ActRefusal, ActRequest } from './act-result.js'
import type { DestinationContracts } from './destination-contracts.js'
import { type LockedEntry, lockEntry } from './lock-entry.js'
import { recordAct } from './record-act.js'
import { runAct } from './run-act.js'

export type RequestAgainResult =
  | {
      readonly kind: 'requested'
      readonly act: string
      readonly request: string
      readonly approver: string
      readonly destination: string
      readonly oldKey: string
      /** The key of the second business action, once it is approved. */
      readonly newKey: string
    }
  | ActRefusal

export type AgainWish = ActRequest & {
  /** The other operator who is to say yes. */
  readonly approver: string
}

/**
 * Asks that an action is carried out once more, as a business action of its own under a new key. Nothing is queued: that
 * takes the yes of another person. Refused while an earlier request waits for its answer.
 */
export function requestAgain(
  database: Database,
  entryId: string,
  wish: AgainWish,
  destinations: DestinationContracts,
): Promise<RequestAgainResult> {
  return runAct<RequestAgainResult>(
    database,
    async (client) => {
      const locked = await lockEntry(client, entryId)
      return locked === null ? { kind: 'not_found' } : request(client, locked, wish, destinations)
    },
    (result) => result.kind === 'requested',
  )
}

async function request(
  client: pg.PoolClient,
  { entry, readAt, version }: LockedEntry,
  wish: AgainWish,
  destinations: DestinationContracts,
): Promise<RequestAgainResult> {
  const { root, rootKey, number, open, body } = await readFamily(client, entry.again?.root ?? entry.id, entry.id)
  if (open !== null) {
    const why = `a request to send it again waits for the answer of ${open.approver}`
    return { kind: 'conflict', state: entry.state, why, next: `counterfoil approve ${open.id} --reason "…"` }
  }
  const newKey = deriveAgainKey(rootKey, number)
  const contract = destinations.get(entry.destination) ?? 'removed'
  const judged = judgeSendAgain({ entry, contract, body, newKey, now: readAt })
  if (judged.kind !== 'allowed') return { kind: judged.kind, state: entry.state, why: judged.why, next: judged.next }
  const id = createUuidV7(Date.now(), randomBytes(16))
  const { approver, actor, reason } = wish
  const act = await recordAct(client, 'send_again', wish, {
    entry: entry.id,
    delivery: entry.delivery,
    destination: entry.destination,
    detail: { request: id, approver, new_key: newKey },
  })
  await client.query(
    `INSERT INTO counterfoil.again_request
       (id, entry, root, number, idempotency_key, requested_by, approver, reason, seen_version, act)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [id, entry.id, root, number, newKey, actor, approver, reason, version, act],
  )
  const { destination, idempotencyKey: oldKey } = entry
  return { kind: 'requested', act, request: id, approver, destination, oldKey, newKey }
}

type Family = {
  readonly root: string
  readonly rootKey: string
  readonly number: number
  readonly open: { readonly id: string; readonly approver: string } | null
  readonly body: Buffer | null
}

/** The requests of one family take turns, so that two never get one number. */
async function readFamily(client: pg.PoolClient, root: string, entryId: string): Promise<Family> {
  await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('counterfoil again ' || $1, 0))`, [root])
  const { rows } = await client.query<{ root_key: string; number: number; body: Buffer | null }>(
    `SELECT r.idempotency_key AS root_key, e.body,
            1 + (SELECT coalesce(max(number), 0) FROM counterfoil.again_request WHERE root = $1) AS number
     FROM counterfoil.entry r, counterfoil.entry e WHERE r.id = $1 AND e.id = $2`,
    [root, entryId],
  )
  const open = await client.query<{ id: string; approver: string }>(
    `SELECT q.id, q.approver FROM counterfoil.again_request q
     WHERE q.root = $1 AND NOT EXISTS (SELECT FROM counterfoil.again_answer a WHERE a.request = q.id) LIMIT 1`,
    [root],
  )
  const row = rows[0]
  if (row === undefined) throw new Error(`the first entry ${root} of a family is not on record`)
  return { root, rootKey: row.root_key, number: row.number, open: open.rows[0] ?? null, body: row.body }
}
