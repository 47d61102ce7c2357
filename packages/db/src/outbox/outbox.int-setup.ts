import { hash, randomUUID } from 'node:crypto'
import type { AttemptOutcome, Decision, LeasedEntry } from '@counterfoil/core'
import { freshDatabase } from '@counterfoil/testkit'
import { openDatabase } from '../connection/index.js'
import { type AttemptClose, leaseDue } from './index.js'

export type EntryRow = {
  state: string
  reason: string | null
  repeat: boolean | null
  attempts: number
  tries: number
  first_sent_at: Date | null
  uncertain_since: Date | null
}

export type DueRow = Pick<EntryRow, 'attempts' | 'tries' | 'first_sent_at' | 'uncertain_since'> & { due_at: Date }

export type AttemptRow = {
  number: number
  outcome: string
  status: number | null
  cause: string | null
  detail: string | null
  decision: string
  decision_reason: string | null
  key_sent: string | null
  digest_sent: Buffer | null
}

/** A cloned database with the few things that every test of the outbox does. */
export async function openOutbox() {
  const clone = await freshDatabase()
  const database = openDatabase({
    url: clone.url,
    max: 24,
    applicationName: 'outbox-test',
    role: null,
    statementTimeoutMs: 20_000,
    connectTimeoutMs: 10_000,
    onlyByKey: true,
  })
  const { pool } = database
  const rows = async <Row>(sql: string, values: unknown[] = []): Promise<Row[]> => (await pool.query(sql, values)).rows

  async function addEntries(
    count: number,
    options: { destination?: string; dueInMs?: number } = {},
  ): Promise<string[]> {
    const added = await rows<{ id: string }>(
      `WITH added AS (
         INSERT INTO counterfoil.entry
           (id, delivery, destination, idempotency_key, body, body_digest, content_type)
         SELECT gen_random_uuid(), gen_random_uuid(), $2, 'key-' || gen_random_uuid(), '{"n":1}', sha256('{"n":1}'),
                'application/json'
           FROM generate_series(1, $1)
         RETURNING id, destination
       ), placed AS (
         INSERT INTO counterfoil.due (entry, destination, due_at, attempts, tries)
         SELECT id, destination, clock_timestamp() + $3 * interval '1 millisecond', 0, 0 FROM added
       )
       SELECT id FROM added`,
      [count, options.destination ?? 'crm', options.dueInMs ?? -1_000],
    )
    return added.map(({ id }) => id)
  }

  return {
    database,
    rows,
    addEntries,
    lease: (limit = 1, options: { destination?: string; worker?: string; leaseMs?: number; token?: string } = {}) =>
      leaseDue(database, {
        destination: options.destination ?? 'crm',
        limit,
        leaseMs: options.leaseMs ?? 60_000,
        sendMarginMs: 5_000,
        worker: options.worker ?? 'w1',
        token: options.token ?? randomUUID(),
        dueFrom: null,
      }),
    async leaseOne(options: { leaseMs?: number; worker?: string } = {}): Promise<LeasedEntry> {
      return only(await this.lease(1, options))
    },
    async entry(id: string): Promise<EntryRow> {
      return only(await rows<EntryRow>('SELECT * FROM counterfoil.entry WHERE id = $1', [id]))
    },
    due: (id: string) => rows<DueRow>('SELECT * FROM counterfoil.due WHERE entry = $1', [id]),
    attempts: (id: string) =>
      rows<AttemptRow>('SELECT * FROM counterfoil.attempt WHERE entry = $1 ORDER BY number', [id]),
    async makeDueNow(id: string): Promise<void> {
      await pool.query("UPDATE counterfoil.due SET due_at = clock_timestamp() - interval '1 second' WHERE entry = $1", [
        id,
      ])
    },
    /** As if the lease had been opened and had ended an hour ago. */
    async expire(id: string): Promise<void> {
      await pool.query(
        `UPDATE counterfoil.lease SET opened_at = opened_at - interval '2 hours',
                expires_at = expires_at - interval '2 hours' WHERE entry = $1`,
        [id],
      )
    },
    async close(): Promise<void> {
      await database.close()
      await clone.drop()
    },
  }
}

export type Outbox = Awaited<ReturnType<typeof openOutbox>>

export function only<T>(items: readonly T[]): T {
  const [item] = items
  if (items.length !== 1 || item === undefined) throw new Error(`expected exactly one, got ${items.length}`)
  return item
}

export const ACCEPTED: AttemptOutcome = { kind: 'accepted', status: 200, repeat: false }
export const REFUSED: AttemptOutcome = { kind: 'rejected', status: 422, reason: 'refused' }
export const UNREACHABLE: AttemptOutcome = { kind: 'not_sent', cause: 'connect', code: 'ECONNREFUSED' }
export const DOUBTFUL: AttemptOutcome = {
  kind: 'uncertain',
  phase: 'waiting_for_answer',
  cause: 'UND_ERR_HEADERS_TIMEOUT',
  status: null,
  notBefore: null,
}

export const FINISH: Decision = { kind: 'finish', as: 'delivered', repeat: false }
export const HOLD: Decision = { kind: 'hold', as: 'uncertain', because: 'no_key' }
export const DEAD_LETTER: Decision = { kind: 'dead_letter', because: 'rejected' }

export function retryIn(dueInMs: number, because: 'not_sent' | 'uncertain_with_key' = 'not_sent'): Decision {
  return { kind: 'retry', dueInMs, because, spendsBudget: true }
}

export function closeOf(
  leased: LeasedEntry,
  outcome: AttemptOutcome = ACCEPTED,
  decision: Decision = FINISH,
  more: Partial<AttemptClose> = {},
): AttemptClose {
  return {
    leased,
    worker: 'w1',
    outcome,
    decision,
    durationMs: 12.4,
    detail: null,
    keySent: leased.idempotencyKey,
    digestSent: hash('sha256', leased.body, 'buffer'),
    ...more,
  }
}
