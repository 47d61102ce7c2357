import { type Decision, workerLost } from '@counterfoil/core'
import type pg from 'pg'
import { classifyFailure, type Database } from '../connection/index.js'
import { applyLateOutcomes } from './apply-late-outcomes.js'
import { type CloseRow, decisionColumns } from './close-row.js'
import { inTransaction } from './in-transaction.js'

import type { ExpiredLease } from './outbox-types.js'
import { outcomeColumns } from './outcome-columns.js'
import { type CloseResults, leaseId, runClose } from './run-close.js'

/** How long after its end a lease is left to its owner, whose close may be on its way. */
const DEFAULT_GRACE_MS = 10_000

/** Every row that is locked is acted on: a page can't fill with rows that somebody else holds. */
const LOCK_EXPIRED = `
SELECT l.entry, l.destination, l.token, l.worker, l.attempt, l.tries,
       extract(epoch FROM l.opened_at)::float8 * 1000 AS opened_at,
       extract(epoch FROM l.expires_at)::float8 * 1000 AS expires_at,
       extract(epoch FROM l.first_sent_at)::float8 * 1000 AS first_sent_at,
       extract(epoch FROM l.uncertain_since)::float8 * 1000 AS uncertain_since,
       extract(epoch FROM coalesce(e.redriven_at, e.created_at))::float8 * 1000 AS created_at,
       extract(epoch FROM clock_timestamp())::float8 * 1000 AS now
  FROM counterfoil.lease l JOIN counterfoil.entry e ON e.id = l.entry
 WHERE l.expires_at < clock_timestamp() - $2::int * interval '1 millisecond'
   AND ($3::uuid[] IS NULL OR l.entry = ANY ($3))
 ORDER BY l.expires_at
 LIMIT $1
   FOR UPDATE OF l SKIP LOCKED`

type ExpiredRow = {
  entry: string
  destination: string
  token: string
  worker: string
  attempt: number
  tries: number
  opened_at: number
  expires_at: number
  first_sent_at: number
  uncertain_since: number | null
  created_at: number
  now: number
}

export type ExpireRequest = {
  /** Most leases in one go. */
  readonly limit: number
  readonly graceMs?: number
  /** Pure: what is to become of an entry whose worker was lost. Its outcome is `workerLost()`. */
  readonly decide: (expired: ExpiredLease) => Decision
}

/** `destinations`: those with entries that are due again, to be woken. */
export type ExpireResult = { readonly expired: number; readonly destinations: string[] }

/**
 * Closes the attempts of leases that ran out, as uncertain (worker lost): the worker may have sent anything. Any number
 * of rescuers may run at once, and a close that comes first wins.
 *
 * @throws a `pg` error when the database fails; nothing has happened then, or all of it
 */
export async function expireLeases(database: Database, request: ExpireRequest): Promise<ExpireResult> {
  try {
    return await expirePage(database, request, null)
  } catch (error) {
    if (classifyFailure(error).kind !== 'data') throw error
    return expireOneByOne(database, request)
  }
}

async function expirePage(database: Database, request: ExpireRequest, only: string[] | null): Promise<ExpireResult> {
  const { rows, results } = await inTransaction(database, async (client) => {
    const expired = await lockExpired(client, request, only)
    const closes = expired.map((lease) => rescueRow(lease, request.decide(lease)))
    const done: CloseResults = closes.length === 0 ? new Map() : await runClose(client, closes)
    return { rows: closes, results: done }
  })
  for (const row of rows) {
    const result = results.get(leaseId(row.entry, row.token))
    if (result?.kind === 'recorded' && result.hasLateOutcome) await applyLateOutcomes(database, row.entry)
  }
  const dueAgain = rows.filter((row) => row.due_in_ms !== null).map((row) => row.destination)
  return { expired: rows.length, destinations: [...new Set(dueAgain)] }
}

/** One lease that can't be recorded must not keep the others from being rescued. */
async function expireOneByOne(database: Database, request: ExpireRequest): Promise<ExpireResult> {
  const entries = await inTransaction(database, (client) => lockExpired(client, request, null))
  const destinations = new Set<string>()
  let expired = 0
  for (const { entryId } of entries) {
    try {
      const one = await expirePage(database, request, [entryId])
      expired += one.expired
      for (const destination of one.destinations) destinations.add(destination)
    } catch (error) {
      if (classifyFailure(error).kind !== 'data') throw error
    }
  }
  return { expired, destinations: [...destinations] }
}

async function lockExpired(client: pg.ClientBase, request: ExpireRequest, only: string[] | null) {
  const values = [request.limit, request.graceMs ?? DEFAULT_GRACE_MS, only]
  const { rows } = await client.query<ExpiredRow>({ name: 'lock_expired_leases', text: LOCK_EXPIRED, values })
  return rows.map(toExpiredLease)
}

function toExpiredLease(row: ExpiredRow): ExpiredLease {
  return {
    entryId: row.entry,
    destination: row.destination,
    token: row.token,
    worker: row.worker,
    attempt: row.attempt,
    openedAt: row.opened_at,
    expiresAt: row.expires_at,
    now: row.now,
    history: {
      attempts: row.attempt - 1,
      tries: row.tries,
      firstSentAt: row.first_sent_at,
      uncertainSince: row.uncertain_since,
      createdAt: row.created_at,
    },
  }
}

function rescueRow(expired: ExpiredLease, decision: Decision): CloseRow {
  const outcome = workerLost()
  return {
    ...outcomeColumns(outcome, null),
    entry: expired.entryId,
    token: expired.token,
    attempt: expired.attempt,
    destination: expired.destination,
    duration_ms: null,
    key_sent: null,
    digest_sent: null,
    ...decisionColumns(outcome, decision),
  }
}
