import { until } from '@counterfoil/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { openSystem, type System } from '../system/open-system.js'
import { findViolations } from '../system/oracles.js'
import { forEachOf } from '../system/pusher.js'

const ENTRIES = 900
/** With 16 slots one worker alone sends 80 a second. */
const ANSWER_MS = 200

describe('two workers on one destination', () => {
  let system: System
  afterEach(() => system.close())

  it('I3 I6: share its backlog, and when one is killed the other goes on at once', async () => {
    system = await openSystem({ sink: { otherwise: { kind: 'answer', status: 200, delayMs: ANSWER_MS } } })
    const [receiver, one, two] = await Promise.all([system.startReceiver(), system.startWorker(), system.startWorker()])
    const ids = Array.from({ length: ENTRIES }, (_, n) => `evt-${n}`)
    await forEachOf(ids, 32, async (id) => {
      await receiver.pusher.pushUntilAcked({ id })
    })
    const killAfter = ENTRIES / 3
    await until(async () => (await system.sink.summary()).requests >= killAfter, { timeoutMs: 30_000 })
    const killedAt = Date.now()
    await one.kill9()
    const share = await system.pool.query<{ worker: string; n: number }>(
      'SELECT worker, count(*)::int AS n FROM counterfoil.attempt WHERE opened_at < to_timestamp($1) GROUP BY worker',
      [killedAt / 1000],
    )
    // Both had as many slots; a quarter is far from none and allows for one that started later.
    for (const { instance } of [one, two]) {
      const sent = share.rows.find(({ worker }) => worker === instance)?.n ?? 0
      expect(sent, `${instance} of ${JSON.stringify(share.rows)}`).toBeGreaterThan(killAfter / 4)
    }
    expect(await system.count(`counterfoil.lease WHERE worker = '${one.instance}'`)).toBeGreaterThan(0)

    await system.drained(60_000)
    const arrivals = (await system.sink.requests()).map(({ receivedAt }) => receivedAt).filter((at) => at > killedAt)
    expect((arrivals[0] ?? Number.NaN) - killedAt).toBeLessThan(5_000)
    expect(await system.sink.summary()).toMatchObject({ effects: ENTRIES, distinctKeys: ENTRIES, repeatedEffects: 0 })
    const lost = await system.pool.query<{ cause: string; state: string; attempts: number; keys: number }>(
      `SELECT a.cause, e.state, e.attempts,
              (SELECT count(DISTINCT b.key_sent)::int FROM counterfoil.attempt b WHERE b.entry = e.id) AS keys
       FROM counterfoil.attempt a JOIN counterfoil.entry e ON e.id = a.entry
       WHERE a.worker = $1 AND a.outcome = 'uncertain'`,
      [one.instance],
    )
    expect(lost.rows.length).toBeGreaterThan(0)
    for (const row of lost.rows) {
      expect(row).toMatchObject({ cause: 'worker_lost', state: 'delivered', keys: 1 })
      expect(row.attempts).toBeGreaterThan(1)
    }
    expect(await findViolations({ ...system, acked: ids })).toEqual([])
  })
})
