import { createPostgresIntakeStore, type Database, openDatabase } from '@counterfoil/db'
import { createMigratedDatabase, type PostgresServer, startPostgres } from '@counterfoil/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { act, arrive, notify } from '../contracts/intake-plans.js'

const DELIVERIES = 600
const COPIES = 2
const KILLS = 3

/** PostgreSQL is killed again and again while pushes come in; its durability is what it is by default. */
describe('PostgreSQL is killed during intake', () => {
  let server: PostgresServer
  let database: Database

  beforeAll(async () => {
    server = await startPostgres()
    const { url } = await createMigratedDatabase(server.url())
    database = openDatabase({
      url,
      max: 8,
      applicationName: 'faults',
      role: null,
      statementTimeoutMs: 10_000,
      connectTimeoutMs: 2_000,
    })
  })
  afterAll(async () => {
    await database.close()
    await server.close()
  })

  it('I1 I2 I3: what was acked is there, once, and what was not acked may be pushed again', async () => {
    const store = createPostgresIntakeStore({
      database,
      instance: 'faults',
      maxQueuedPushes: 2_000,
      maxQueuedBytes: 1 << 26,
      log: { warn: () => {}, error: () => {} },
    })
    // A sender redelivers until it is acked; every arrival is a new one.
    const pushUntilAcked = async (deliveryId: string): Promise<string> => {
      for (;;) {
        const delivery = arrive({ deliveryId, disposition: act([notify(`key of ${deliveryId}`)]) })
        const result = await store.claim({ deliveries: [delivery] }, { deadlineAt: performance.now() + 1_000 })
        if (result.kind === 'committed') return result.results[0]?.deliveryUuid ?? ''
      }
    }
    let acked = 0
    let kills = 0
    let killing: Promise<void> = Promise.resolve()
    const onAck = (uuid: string): string => {
      acked += 1
      // In the middle of the traffic, each kill after another quarter of the acks.
      if (kills < KILLS && acked >= ((kills + 1) * DELIVERIES * COPIES) / (KILLS + 1)) {
        kills += 1
        killing = killing.then(() => server.kill9()).then(() => server.start())
      }
      return uuid
    }
    const ids = Array.from({ length: DELIVERIES * COPIES }, (_, n) => `d${n % DELIVERIES}`)
    const queue = ids.entries()
    const uuids: string[] = []
    // 32 senders at once, so that there is always something in flight when the server dies.
    const senders = Array.from({ length: 32 }, async () => {
      for (const [index, id] of queue) uuids[index] = onAck(await pushUntilAcked(id))
    })
    await Promise.all(senders)
    await killing
    await store.drain()

    expect(kills).toBe(KILLS)
    const { rows } = await database.pool.query<{ id: string; deliveryId: string }>(
      'SELECT id, delivery_id AS "deliveryId" FROM counterfoil.delivery',
    )
    const claims = new Map(rows.map(({ id, deliveryId }) => [deliveryId, id]))
    expect(rows).toHaveLength(DELIVERIES)
    // Every ack named the one claim that is on record.
    expect(uuids).toEqual(ids.map((id) => claims.get(id)))
    const { rows: counts } = await database.pool.query(
      `SELECT (SELECT count(*)::int FROM counterfoil.entry) AS entries,
              (SELECT count(DISTINCT (destination, idempotency_key))::int FROM counterfoil.entry) AS keys,
              (SELECT count(*)::int FROM counterfoil.due) AS due,
              (SELECT count(*)::int FROM counterfoil.observation WHERE kind = 'first') AS firsts,
              (SELECT count(*)::int FROM counterfoil.observation) AS observations`,
    )
    expect(counts[0]).toMatchObject({ entries: DELIVERIES, keys: DELIVERIES, due: DELIVERIES, firsts: DELIVERIES })
    // At least one arrival for each ack; more where the ack was lost with the server.
    expect(counts[0].observations).toBeGreaterThanOrEqual(DELIVERIES * COPIES)
  })
})
