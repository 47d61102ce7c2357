import { applyDeferred, createPostgresIntakeStore, openDatabase, sweepTransition } from '@counterfoil/db'
import { freshDatabase, until } from '@counterfoil/testkit'
import { arrive, expireHold } from './intake-plans.js'
import { describeIntakeStore, type IntakeWorld } from './intake-store-suite.js'

const silent = { warn: () => {}, error: () => {} }

async function openWorld(): Promise<IntakeWorld> {
  const fresh = await freshDatabase()
  const database = openDatabase({
    url: fresh.url,
    max: 8,
    applicationName: 'intake-contract',
    role: null,
    statementTimeoutMs: 10_000,
    connectTimeoutMs: 5_000,
  })
  const { pool } = database
  await pool.query('CREATE TABLE hold (id text PRIMARY KEY, state text NOT NULL, due_at timestamptz, place text)')
  const store = createPostgresIntakeStore({
    database,
    instance: 'contract',
    maxQueuedPushes: 1000,
    maxQueuedBytes: 1 << 24,
    log: silent,
  })
  const list = async <Row extends object>(sql: string, ...values: unknown[]): Promise<Row[]> =>
    (await pool.query<Row>(sql, values)).rows
  const count = async (sql: string, ...values: unknown[]): Promise<number> =>
    (await list<{ n: number }>(`SELECT count(*)::int AS n FROM ${sql}`, ...values))[0]?.n ?? -1
  return {
    store,
    putHold: async (id, state, dueInMs) => {
      const [row] = await list<{ ms: number }>(
        `INSERT INTO hold VALUES ($1, $2, date_trunc('milliseconds', clock_timestamp()) + $3::float8 * interval '1 ms', $4)
         ON CONFLICT (id) DO UPDATE SET state = excluded.state, due_at = excluded.due_at
         RETURNING (extract(epoch FROM due_at) * 1000)::float8 AS ms`,
        id,
        state,
        dueInMs,
        `place of ${id}`,
      )
      return row?.ms ?? 0
    },
    readHold: async (id) => (await list<{ state: string }>('SELECT state FROM hold WHERE id = $1', id))[0]?.state ?? '',
    untilDue: async (id) => {
      await until(async () => (await count('hold WHERE id = $1 AND due_at <= clock_timestamp()', id)) === 1)
    },
    observations: (uuid) =>
      list('SELECT number, kind FROM counterfoil.observation WHERE delivery = $1 ORDER BY number', uuid),
    outcomes: (uuid) =>
      list(
        `SELECT outcome, decided_by AS "decidedBy", subject FROM counterfoil.transition_outcome
         WHERE delivery = $1 ORDER BY number`,
        uuid,
      ),
    entries: (destination, key) =>
      list(
        `SELECT e.id, e.delivery, convert_from(e.body, 'UTF8') AS body FROM counterfoil.entry e
         JOIN counterfoil.due d ON d.entry = e.id WHERE e.destination = $1 AND e.idempotency_key = $2`,
        destination,
        key,
      ),
    links: (entry) =>
      list(
        'SELECT delivery, body_differs AS "bodyDiffers" FROM counterfoil.entry_link WHERE entry = $1 ORDER BY linked_at',
        entry,
      ),
    claims: (source, deliveryId) =>
      count('counterfoil.delivery WHERE source = $1 AND delivery_id = $2', source, deliveryId),
    refusals: async (deliveryId) =>
      (
        await list<{ ms: number }>(
          'SELECT retry_after_ms AS ms FROM counterfoil.refused_observation WHERE delivery_id = $1',
          deliveryId,
        )
      ).map((row) => row.ms),
    conflictBodies: async (uuid) =>
      (await list<{ body: Buffer }>('SELECT body FROM counterfoil.conflict_content WHERE delivery = $1', uuid)).map(
        (row) => row.body.toString(),
      ),
    deferred: async (uuid) => (await count('counterfoil.deferred WHERE delivery = $1', uuid)) === 1,
    acks: (uuid) => count('counterfoil.ack WHERE delivery = $1', uuid),
    unclaimed: (deliveryId) => count('counterfoil.unclaimed WHERE delivery_id = $1', deliveryId),
    // PostgreSQL's text can't hold NUL; planning keeps such text out, so only a bug brings it here.
    poison: async (deliveryId) => ({ ...arrive({ deliveryId }), eventType: 'a\0b' }),
    applyDeferred: (plan) => applyDeferred(database, { limit: 100, plan }),
    sweep: () => sweepTransition(database, expireHold, { instance: 'contract' }),
    close: async () => {
      await store.drain()
      await database.close()
      await fresh.drop()
    },
  }
}

describeIntakeStore('on PostgreSQL', openWorld)
