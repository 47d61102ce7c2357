import { randomBytes } from 'node:crypto'
import { createUuidV7, judgeSendAgain } from '@counterfoil/core'
import type pg from 'pg'
import type { Database } from '../connection/database.js'
import type { ActRefusal, ActRequest } from './act-result.js'
import type { DestinationContracts } from './destination-contracts.js'
import { lockEntry } from './lock-entry.js'
import { recordAct } from './record-act.js'
import { runAct } from './run-act.js'

export type AnswerAgainResult =
  | {
      readonly kind: 'approved'
      readonly act: string
      readonly entry: string
      readonly destination: string
      readonly newKey: string
    }
  | { readonly kind: 'declined'; readonly act: string }
  | ActRefusal

export type AgainAnswer = ActRequest & { readonly answer: 'approved' | 'declined' }

type RequestRow = {
  id: string
  entry: string
  idempotency_key: string
  requested_by: string
  approver: string
  seen_version: string
  answer: string | null
  answered_by: string | null
}

/**
 * The other person's answer to a request to send again. A yes queues the second business action: the same bytes under
 * the new key, as a new entry of the same delivery. Everything is judged anew, since time has passed; the old entry
 * stays as it is.
 */
export function answerAgain(
  database: Database,
  requestId: string,
  answer: AgainAnswer,
  destinations: DestinationContracts,
): Promise<AnswerAgainResult> {
  return runAct<AnswerAgainResult>(
    database,
    (client) => answerRequest(client, requestId, answer, destinations),
    (result) => result.kind === 'approved' || result.kind === 'declined',
  )
}

async function answerRequest(
  client: pg.PoolClient,
  requestId: string,
  answer: AgainAnswer,
  destinations: DestinationContracts,
): Promise<AnswerAgainResult> {
  await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('counterfoil answer ' || $1, 0))`, [requestId])
  const { rows } = await client.query<RequestRow>(
    `SELECT q.id, q.entry, q.idempotency_key, q.requested_by, q.approver, q.seen_version, a.answer, a.answered_by
     FROM counterfoil.again_request q LEFT JOIN counterfoil.again_answer a ON a.request = q.id WHERE q.id = $1`,
    [requestId],
  )
  const asked = rows[0]
  if (asked === undefined) return { kind: 'not_found' }
  const refusal = refuseAnswer(asked, answer)
  if (refusal !== null) return refusal
  return answer.answer === 'declined' ? decline(client, asked, answer) : approve(client, asked, answer, destinations)
}

/** Only the person who was asked may say yes; whoever asked may take it back. */
function refuseAnswer(asked: RequestRow, { actor, answer }: AgainAnswer): ActRefusal | null {
  if (asked.answer !== null) {
    const why = `${asked.answered_by ?? 'somebody'} has already ${asked.answer} it`
    return { kind: 'conflict', state: asked.answer, why, next: `Look again: counterfoil show ${asked.entry}.` }
  }
  if (actor === asked.approver || (answer === 'declined' && actor === asked.requested_by)) return null
  const why =
    actor === asked.requested_by
      ? 'nobody approves what they asked for themselves'
      : `it asks ${asked.approver}, and no one else`
  return { kind: 'refused', state: 'requested', why, next: `Let ${asked.approver} answer with a token of their own.` }
}

async function decline(client: pg.PoolClient, asked: RequestRow, answer: AgainAnswer): Promise<AnswerAgainResult> {
  const detail = { request: asked.id, answer: 'declined' }
  const act = await recordAct(client, 'approve', answer, { entry: asked.entry, detail })
  await writeAnswer(client, asked, answer, { act, entry: null })
  return { kind: 'declined', act }
}

async function approve(
  client: pg.PoolClient,
  asked: RequestRow,
  answer: AgainAnswer,
  destinations: DestinationContracts,
): Promise<AnswerAgainResult> {
  const locked = await lockEntry(client, asked.entry)
  if (locked === null) return { kind: 'not_found' }
  const { entry, readAt, version } = locked
  const { idempotency_key: newKey } = asked
  if (version !== asked.seen_version) {
    const why = `the entry has changed since ${asked.requested_by} asked`
    const next = `Decline it, look again, and ask anew: counterfoil approve ${asked.id} --decline --reason "…"`
    return { kind: 'conflict', state: entry.state, why, next }
  }
  const { rows } = await client.query<{ body: Buffer | null }>('SELECT body FROM counterfoil.entry WHERE id = $1', [
    entry.id,
  ])
  const contract = destinations.get(entry.destination) ?? 'removed'
  const judged = judgeSendAgain({ entry, contract, body: rows[0]?.body ?? null, newKey, now: readAt })
  if (judged.kind !== 'allowed') return { kind: judged.kind, state: entry.state, why: judged.why, next: judged.next }
  const newEntry = createUuidV7(Date.now(), randomBytes(16))
  const act = await recordAct(client, 'approve', answer, {
    entry: entry.id,
    delivery: entry.delivery,
    destination: entry.destination,
    detail: { request: asked.id, answer: 'approved', new_key: newKey, new_entry: newEntry },
  })
  if (!(await queueAgain(client, entry.id, newEntry, newKey))) {
    const why = `another action for ${entry.destination} already stands under the key ${newKey}`
    return { kind: 'conflict', state: entry.state, why, next: 'Decline it, and ask anew.' }
  }
  await writeAnswer(client, asked, answer, { act, entry: newEntry })
  return { kind: 'approved', act, entry: newEntry, destination: entry.destination, newKey }
}

/** Out of its ordering key: what it came before has long gone, and others must not wait for it. */
async function queueAgain(client: pg.PoolClient, old: string, id: string, key: string): Promise<boolean> {
  const { rowCount } = await client.query(
    `WITH made AS (
       INSERT INTO counterfoil.entry (id, delivery, destination, idempotency_key, body, body_digest, content_type)
       SELECT $2, delivery, destination, $3, body, body_digest, content_type FROM counterfoil.entry WHERE id = $1
       ON CONFLICT DO NOTHING RETURNING id, destination)
     INSERT INTO counterfoil.due (entry, destination, due_at, attempts, tries)
     SELECT id, destination, clock_timestamp(), 0, 0 FROM made`,
    [old, id, key],
  )
  return rowCount === 1
}

async function writeAnswer(
  client: pg.PoolClient,
  asked: RequestRow,
  { answer, actor }: AgainAnswer,
  { act, entry }: { readonly act: string; readonly entry: string | null },
): Promise<void> {
  await client.query(
    `INSERT INTO counterfoil.again_answer (request, answer, answered_by, entry, act) VALUES ($1, $2, $3, $4, $5)`,
    [asked.id, answer, actor, entry, act],
  )
}
