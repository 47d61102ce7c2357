import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CLAIM, claimDeliveries } from './claim/claim-deliveries.js'
import { FIND_CLAIMED } from './claim/find-claimed.js'
import { RECOGNISE } from './claim/recognise-arrivals.js'
import { arrive, type Intake, newId, notify, openIntake } from './intake.int-setup.js'

let intake: Intake
beforeEach(async () => {
  intake = await openIntake()
})
afterEach(() => intake.close())

/** The plan that a session caches: made once, kept while the tables grow. */
async function cachedPlan(text: string, parameters: number): Promise<string> {
  const client = await intake.database.pool.connect()
  try {
    await client.query('SET plan_cache_mode = force_generic_plan')
    await client.query(`PREPARE probed AS ${text}`)
    const nulls = Array.from({ length: parameters }, () => 'NULL').join(', ')
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN EXECUTE probed (${nulls})`)
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  } finally {
    client.release(true)
  }
}

/** Each look at a table is by a condition on its index: never the whole table, nor the whole index. */
function expectByKey(plan: string): void {
  expect(plan).not.toMatch(/Seq Scan/)
  const scans = plan
    .split(/^\s*->\s+/m)
    .filter((node) => /^(Index|Bitmap)\b.* on (delivery|observation|entry|transition)/.test(node))
  expect(scans.length).toBeGreaterThan(0)
  for (const scan of scans) expect(scan).toMatch(/(Index|Recheck) Cond/)
}

async function expectAllByKey(): Promise<void> {
  expectByKey(await cachedPlan(CLAIM, 26))
  expectByKey(await cachedPlan(RECOGNISE, 11))
  expectByKey(await cachedPlan(FIND_CLAIMED, 3))
}

describe('the cached plans of claim and recognition', () => {
  it('look deliveries up by key, whether they were made on empty tables, on one analysed page or on many', async () => {
    await expectAllByKey()

    await intake.claim({ deliveries: [arrive({ deliveryId: 'd-1', actions: [notify('k-1')] })] })
    await intake.claim({ deliveries: [arrive({ deliveryId: 'd-1', actions: [notify('k-1')] })] })
    await intake.database.pool.query('VACUUM ANALYZE')
    await expectAllByKey()

    const client = await intake.database.pool.connect()
    for (let batch = 0; batch < 20; batch += 1) {
      const deliveries = Array.from({ length: 500 }, () => arrive({ deliveryId: newId() }))
      await claimDeliveries(client, deliveries, { instance: 'test', lockTimeoutMs: 1_000 })
    }
    client.release()
    await expectAllByKey()
    await intake.database.pool.query('VACUUM ANALYZE')
    await expectAllByKey()
  })
})
