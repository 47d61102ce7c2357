import { createHash, hash, randomBytes, randomUUID } from 'node:crypto'
import { type AttemptOutcome, createUuidV7, type Decision, type LeasedEntry } from '@counterfoil/core'
import { freshDatabase } from '@counterfoil/testkit'
import { type Database, openDatabase } from '../connection/index.js'
import { closeAttempts, leaseDue } from '../outbox/index.js'

export type DeliverySeed = {
  readonly source?: string
  readonly deliveryId?: string
  readonly type?: string
  readonly disposition?: 'act' | 'ignored' | 'quarantined'
  readonly references?: readonly { name: string; value: string; personal?: boolean }[]
  readonly body?: string
  readonly at?: number
}

/** A cloned database in which deliveries are written as intake writes them, and entries are really leased and closed. */
export async function openStory() {
  const clone = await freshDatabase()
  const database = open(clone.url)
  const { pool } = database

  async function addDelivery(seed: DeliverySeed = {}): Promise<string> {
    const id = createUuidV7(seed.at ?? Date.now(), randomBytes(16))
    const disposition = seed.disposition ?? 'act'
    const body = Buffer.from(seed.body ?? '{"n":1}')
    await pool.query(
      `INSERT INTO counterfoil.delivery (id, source, delivery_id, identity_digest, event_type, disposition, reason, claimed_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, coalesce($8, clock_timestamp()))`,
      [
        id,
        seed.source ?? 'tickets',
        seed.deliveryId ?? `d-${id}`,
        createHash('sha256').update(body).digest(),
        seed.type ?? 'ticket.reply',
        disposition,
        disposition === 'act' ? null : 'schema: no ticket',
        seed.at === undefined ? null : new Date(seed.at),
      ],
    )
    await pool.query('INSERT INTO counterfoil.delivery_content VALUES ($1, $2, $3)', [id, body, 'application/json'])
    for (const { name, value, personal } of seed.references ?? []) {
      await pool.query('INSERT INTO counterfoil.reference VALUES ($1, $2, $3, $4)', [
        value,
        name,
        id,
        personal ?? false,
      ])
    }
    await addArrival(id, 'first', 204)
    return id
  }

  /** One more arrival, and what it was answered; `null`: no answer on record. */
  async function addArrival(delivery: string, kind: 'first' | 'duplicate' | 'conflict', status: number | null) {
    const observation = randomUUID()
    await pool.query(
      `INSERT INTO counterfoil.observation (delivery, number, id, kind, key_id, instance)
       SELECT $1, 1 + count(*), $2, $3, 'demo-1', 'receiver-1' FROM counterfoil.observation WHERE delivery = $1`,
      [delivery, observation, kind],
    )
    if (status === null) return
    await pool.query('INSERT INTO counterfoil.ack VALUES ($1, $2, $3, $4, clock_timestamp())', [
      delivery,
      observation,
      status,
      'written',
    ])
  }

  async function addEntry(delivery: string, destination = 'crm', key: string = randomUUID()): Promise<string> {
    const id = randomUUID()
    await pool.query(
      `INSERT INTO counterfoil.entry (id, delivery, destination, idempotency_key, body, body_digest, content_type)
       VALUES ($1, $2, $3, $4, '{"n":1}', sha256('{"n":1}'), 'application/json')`,
      [id, delivery, destination, key],
    )
    await pool.query(
      `INSERT INTO counterfoil.due (entry, destination, due_at, attempts, tries)
       VALUES ($1, $2, clock_timestamp() - interval '1 second', 0, 0)`,
      [id, destination],
    )
    return id
  }

  async function lease(destination: string): Promise<LeasedEntry> {
    const request = { destination, limit: 1, leaseMs: 60_000, sendMarginMs: 5_000, worker: 'w1', token: randomUUID() }
    await pool.query(`UPDATE counterfoil.due SET due_at = clock_timestamp() - interval '1 second'`)
    const [leased] = await leaseDue(database, { ...request, dueFrom: null })
    if (leased === undefined) throw new Error(`nothing is due for ${destination}`)
    return leased
  }

  async function close(
    leased: LeasedEntry,
    outcome: AttemptOutcome,
    decision: Decision,
    sentKey = true,
  ): Promise<void> {
    const isSent = outcome.kind !== 'not_sent'
    await closeAttempts(database, [
      {
        leased,
        worker: 'w1',
        outcome,
        decision,
        durationMs: 10_000,
        detail: null,
        keySent: isSent && sentKey ? leased.idempotencyKey : null,
        digestSent: isSent ? hash('sha256', leased.body, 'buffer') : null,
      },
    ])
  }

  /** One attempt from its lease to its end. */
  async function attempt(destination: string, outcome: AttemptOutcome, decision: Decision, sentKey = true) {
    await close(await lease(destination), outcome, decision, sentKey)
  }

  return {
    database,
    url: clone.url,
    pool,
    addDelivery,
    addArrival,
    addEntry,
    lease,
    close,
    attempt,
    async end(): Promise<void> {
      await database.close()
      await clone.drop()
    },
  }
}

export type Story = Awaited<ReturnType<typeof openStory>>

export function open(url: string, role: string | null = null): Database {
  return openDatabase({
    url,
    max: 8,
    applicationName: 'audit-test',
    role,
    statementTimeoutMs: 20_000,
    connectTimeoutMs: 10_000,
  })
}

export const TIMED_OUT: AttemptOutcome = {
  kind: 'uncertain',
  phase: 'waiting_for_answer',
  cause: 'UND_ERR_HEADERS_TIMEOUT',
  status: null,
  notBefore: null,
}
export const ACCEPTED: AttemptOutcome = { kind: 'accepted', status: 202, repeat: false }
export const REPEATED: AttemptOutcome = { kind: 'accepted', status: 200, repeat: true }
export const REFUSED: AttemptOutcome = { kind: 'rejected', status: 422, reason: 'refused' }
export const FINISH: Decision = { kind: 'finish', as: 'delivered', repeat: false }
export const FINISH_REPEAT: Decision = { kind: 'finish', as: 'delivered', repeat: true }
export const RETRY: Decision = { kind: 'retry', dueInMs: 0, because: 'uncertain_with_key', spendsBudget: true }
export const HOLD: Decision = { kind: 'hold', as: 'uncertain', because: 'no_key' }
export const DEAD_LETTER: Decision = { kind: 'dead_letter', because: 'rejected' }
export const LOST: AttemptOutcome = {
  kind: 'uncertain',
  phase: 'worker_lost',
  cause: 'lease_expired',
  status: null,
  notBefore: null,
}
