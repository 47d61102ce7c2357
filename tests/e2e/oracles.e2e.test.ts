import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSystem, type System } from '../system/open-system.js'
import { findViolations } from '../system/oracles.js'

/** An oracle that never speaks proves nothing: here the evidence is bent on purpose, past the triggers that protect it. */
describe('the oracles', () => {
  let system: System
  beforeAll(async () => {
    system = await openSystem()
    const [{ pusher }] = await Promise.all([system.startReceiver(), system.startWorker()])
    for (const id of ['a', 'b', 'c', 'd']) await pusher.pushUntilAcked({ id })
    await system.drained()
  })
  afterAll(() => system.close())

  it('are silent about what is right, and name each thing that is bent', async () => {
    expect(await findViolations({ ...system, acked: ['a', 'b', 'c', 'd'] })).toEqual([])
    const entry = (id: string) => `(SELECT id FROM counterfoil.entry WHERE idempotency_key = '${id}/notify')`
    await system.pool.query(`
      ALTER TABLE counterfoil.attempt DISABLE TRIGGER ALL;
      ALTER TABLE counterfoil.entry DISABLE TRIGGER ALL;
      ALTER TABLE counterfoil.observation DISABLE TRIGGER ALL;
      UPDATE counterfoil.attempt SET number = 2 WHERE entry = ${entry('a')};
      DELETE FROM counterfoil.attempt WHERE entry = ${entry('b')};
      UPDATE counterfoil.entry SET body_digest = sha256('other') WHERE id = ${entry('c')};
      UPDATE counterfoil.entry SET state = 'pending', closed_at = NULL WHERE id = ${entry('d')};
      UPDATE counterfoil.observation SET number = 5, kind = 'duplicate'
      WHERE delivery = (SELECT id FROM counterfoil.delivery WHERE delivery_id = 'd')`)
    for (const key of ['nobody', 'a/notify']) {
      const headers = { 'idempotency-key': key }
      await fetch(system.sink.url('/crm'), { method: 'POST', headers, body: 'other' })
    }
    const found = await findViolations({ ...system, acked: ['a', 'never-pushed'] })
    const wanted = [
      /^I12 misplaced: .* pending in 0/,
      /^attempt numbers: .* 1 rows, 2\.\.2/,
      /^attempt numbers: .* 0 rows/,
      /^I6 unfounded: .* is delivered/,
      /^I3 recorded: .* attempt 1/,
      /^I3 wire: crm saw other bytes under the key c/,
      /^I3 wire: crm saw the key nobody of no entry/,
      /^I4 unaccounted: .* key a\/notify/,
      /^I4 unaccounted: .* key b\/notify/,
      /^I2 observations: events d: 1 rows up to 5/,
      /^I1: acked and not claimed: never-pushed/,
    ]
    for (const pattern of wanted) expect(found).toContainEqual(expect.stringMatching(pattern))
  })
})
