import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { encodeCloses } from './encode-closes.js'
import { closeAttempts } from './index.js'
import { LEASE_DUE } from './lease-due.js'
import { closeOf, type Outbox, openOutbox } from './outbox.int-setup.js'
import { CLOSE_ATTEMPTS } from './run-close.js'

let outbox: Outbox
beforeEach(async () => {
  outbox = await openOutbox()
})
afterEach(() => outbox.close())

/** The plan that a session caches: made once, kept while the tables grow from nothing to 100k rows. */
async function cachedPlan(text: string, parameters: string): Promise<string> {
  const client = await outbox.database.pool.connect()
  try {
    await client.query('SET plan_cache_mode = force_generic_plan')
    await client.query(`PREPARE probed AS ${text}`)
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN EXECUTE probed (${parameters})`)
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  } finally {
    client.release(true)
  }
}

/** As many empty arrays as a close has columns. */
const NO_CLOSES = Array.from({ length: encodeCloses([]).length }, () => "'{}'").join(', ')
const TOKEN = '00000000-0000-0000-0000-000000000001'

async function expectIndexPlans(): Promise<void> {
  const lease = await cachedPlan(LEASE_DUE, `'crm', 128, '${TOKEN}', 'w1', 30000, '-infinity'`)
  expect(lease).toMatch(/Index Scan using due_next on due/)
  expect(lease).not.toMatch(/Sort/)
  expect(lease).not.toMatch(/Seq Scan on (due|lease|entry)/)
  // By key, one by one: a join that reads all of `entry` cost 8 of 13 ms.
  expect(lease).toMatch(/Index Scan using entry_pkey on entry[\s\S]*Index Cond: \(id = m\.entry\)/)
  const close = await cachedPlan(CLOSE_ATTEMPTS, NO_CLOSES)
  expect(close).toMatch(/Index Scan using lease_pkey on lease/)
  expect(close).not.toMatch(/Seq Scan on (due|lease|entry|attempt)/)
}

describe('the cached plans of lease and close', () => {
  it('go through the indexes even when they were made on tables of one analysed page', async () => {
    await outbox.addEntries(5)
    const leased = await outbox.lease(1)
    await closeAttempts(
      outbox.database,
      leased.map((one) => closeOf(one)),
    )
    await outbox.rows('VACUUM ANALYZE')
    await expectIndexPlans()
  })

  it('go through the indexes whenever they were made: on empty, full and drained tables', async () => {
    await expectIndexPlans()

    await outbox.addEntries(20_000)
    await expectIndexPlans()

    for (let left = 6_000; left > 0; ) {
      const leased = await outbox.lease(500)
      await closeAttempts(
        outbox.database,
        leased.map((one) => closeOf(one)),
      )
      left -= leased.length
    }
    await outbox.rows('DELETE FROM counterfoil.due')
    await outbox.rows('VACUUM counterfoil.due, counterfoil.lease')
    await expectIndexPlans()
  })
})
