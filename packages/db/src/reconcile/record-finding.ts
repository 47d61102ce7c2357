import type { FindingDecision, FindingEffect, FindingSituation, Found } from '@counterfoil/core'
import type pg from 'pg'
import { classifyFailure, type Database } from '../connection/index.js'
import { cleanText } from '../outbox/clean-text.js'
import { inTransaction } from '../outbox/in-transaction.js'
import { endHeldEntry } from './end-held-entry.js'
import type { AskedLookup } from './lookup-columns.js'

export type FindingRecord = {
  readonly asked: Pick<AskedLookup, 'entry' | 'number' | 'token'>
  readonly found: Found
  /** Pure: what follows from it, where the entry stands now. */
  readonly decide: (situation: FindingSituation) => FindingDecision
}

export type RecordedFinding = {
  readonly effect: FindingEffect
  /** Why it is still unknown, or why it was not acted upon. */
  readonly cause: string | null
}

const LOCK_ENTRY = 'SELECT FROM counterfoil.entry WHERE id = $1 FOR UPDATE'

/** After the lock, in a statement of its own: its snapshot sees what whoever held the lock has done. */
const READ_SITUATION = `
SELECT coalesce(e.state = 'uncertain' AND e.closed_at = l.held_at AND e.attempts = l.attempts, false) AS same,
       e.tries, e.body IS NULL AS erased, r.probes, l.asked_at, l.held_at,
       coalesce(e.redriven_at, e.created_at) AS created_at, clock_timestamp() AS now,
       f.effect AS recorded_effect, f.cause AS recorded_cause
  FROM counterfoil.lookup l
  JOIN counterfoil.entry e ON e.id = l.entry
  LEFT JOIN counterfoil.reconciliation r ON r.entry = l.entry
  LEFT JOIN counterfoil.finding f ON f.entry = l.entry AND f.number = l.number
 WHERE l.entry = $1 AND l.number = $2`

const INSERT_FINDING = `
INSERT INTO counterfoil.finding (entry, number, finding, status, cause, detail, duration_ms, effect)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`

/** Only whoever asked last says when to ask next. */
const ASK_AGAIN = `
UPDATE counterfoil.reconciliation
   SET token = NULL, leased_until = NULL, next_at = clock_timestamp() + $3::float8 * interval '1 millisecond'
 WHERE entry = $1 AND token = $2`

const WAIT_FOR_PERSON = `
UPDATE counterfoil.reconciliation
   SET token = NULL, leased_until = NULL, next_at = NULL, review_by = least(review_by, clock_timestamp())
 WHERE entry = $1 AND token = $2`

type SituationRow = {
  same: boolean
  tries: number
  erased: boolean
  probes: number | null
  asked_at: Date
  held_at: Date
  created_at: Date
  now: Date
  recorded_effect: FindingEffect | null
  recorded_cause: string | null
}

/**
 * Writes down what a question brought, and moves the entry by it, in one transaction under the entry's lock. A person's
 * settlement, a late answer or another finding that came first wins: then the finding is kept as evidence and changes
 * nothing. Recording the same one twice is harmless.
 *
 * @throws a `pg` error when the database fails; the lease then runs out and it is asked again
 */
export async function recordFinding(database: Database, record: FindingRecord): Promise<RecordedFinding> {
  const { detail, ...found } = record.found
  try {
    return await inTransaction(database, (client) => writeFinding(client, record, cleanText(detail)))
  } catch (error) {
    if (classifyFailure(error).kind !== 'data') throw error
    return inTransaction(database, (client) => writeFinding(client, { ...record, found: { ...found, detail } }, null))
  }
}

async function writeFinding(
  client: pg.PoolClient,
  { asked, found, decide }: FindingRecord,
  detail: string | null,
): Promise<RecordedFinding> {
  const { entry, number, token } = asked
  await client.query(LOCK_ENTRY, [entry])
  const [row] = (await client.query<SituationRow>(READ_SITUATION, [entry, number])).rows
  if (row === undefined) throw new Error(`question ${number} about entry ${entry} is not on record`)
  if (row.recorded_effect !== null) return { effect: row.recorded_effect, cause: row.recorded_cause }
  const decision = decide(toSituation(row))
  const effect = effectOf(decision)
  const cause = found.cause ?? causeOf(decision)
  const { finding, status, durationMs } = found
  const ms = durationMs === null ? null : Math.round(durationMs)
  await client.query(INSERT_FINDING, [entry, number, finding, status, cause, detail, ms, effect])
  await apply(client, entry, token, decision)
  return { effect, cause }
}

async function apply(client: pg.PoolClient, entry: string, token: string, decision: FindingDecision): Promise<void> {
  switch (decision.kind) {
    case 'keep':
      return
    case 'deliver':
      return endHeldEntry(client, entry, { kind: 'delivered', reason: 'took_effect' })
    case 'dead_letter':
      return endHeldEntry(client, entry, { kind: 'dead_lettered', reason: decision.because })
    case 'return':
      return endHeldEntry(client, entry, { kind: 'returned' })
    case 'ask_again':
      await client.query(ASK_AGAIN, [entry, token, decision.dueInMs])
      return
    case 'wait_for_person':
      await client.query(WAIT_FOR_PERSON, [entry, token])
      return
  }
}

function toSituation(row: SituationRow): FindingSituation {
  return {
    isSameHold: row.same,
    askedAt: row.asked_at.getTime(),
    heldAt: row.held_at.getTime(),
    createdAt: row.created_at.getTime(),
    now: row.now.getTime(),
    tries: row.tries,
    probes: row.probes ?? 0,
    contentErased: row.erased,
  }
}

function effectOf(decision: FindingDecision): FindingEffect {
  switch (decision.kind) {
    case 'deliver':
      return 'delivered'
    case 'return':
      return 'returned'
    case 'dead_letter':
      return 'dead_lettered'
    case 'ask_again':
      return 'asked_again'
    case 'wait_for_person':
      return 'waits_for_person'
    case 'keep':
      return 'kept'
  }
}

function causeOf(decision: FindingDecision): string | null {
  if (decision.kind === 'keep') return 'moved_meanwhile'
  return decision.kind === 'ask_again' && decision.because === 'too_early' ? 'too_early' : null
}
