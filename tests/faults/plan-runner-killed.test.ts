import { spawnApp, until } from '@counterfoil/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openSystem, type System } from '../system/open-system.js'
import { findViolations } from '../system/oracles.js'

const DELIVERIES = 24
const REASON = ['--reason', 'outage of 30 November']

/** kill -9 of the process that runs a plan, between any two of its entries or in the middle of one. */
describe('the runner of a plan is killed', () => {
  let system: System
  beforeEach(async () => {
    system = await openSystem()
  })
  afterEach(() => system.close())

  it('I3 I9: the next run goes on, and each entry is redriven once, acted on once and on record once', async () => {
    const env = { ...system.env, COUNTERFOIL_OPERATOR_TOKEN: system.env.ANA_TOKEN ?? '' }
    await system.sink.script({ otherwise: { kind: 'answer', status: 422 } })
    const { pusher } = await system.startReceiver()
    const acked = Array.from({ length: DELIVERIES }, (_, index) => `evt-${index}`)
    for (const id of acked) await pusher.pushUntilAcked({ id, type: 'notify' })
    await system.startWorker()
    await system.drained()
    expect(await system.count(`counterfoil.entry WHERE state = 'dead_lettered'`)).toBe(DELIVERIES)

    await system.sink.script({ otherwise: { kind: 'answer', status: 200 } })
    const made = await system.run(['redrive', '--destination', 'crm', ...REASON, '--json'], env)
    const { id } = JSON.parse(made.stdout)
    for (let kill = 1; kill <= 3; kill += 1) {
      const before = await system.count('counterfoil.plan_result')
      const runner = spawnApp(['plan', 'run', id, '--canary', '2', '--per-second', '20'], { env })
      await until(async () => (await system.count('counterfoil.plan_result')) > before + 2, { timeoutMs: 60_000 })
      await runner.kill9()
      await until(async () => (await system.run(['plan', 'show', id], env)).stdout.includes('interrupted'), {
        timeoutMs: 60_000,
        what: 'the lock of the killed runner to be gone',
      })
    }
    const ended = await system.run(['plan', 'run', id, '--canary', '0', '--per-second', '100'], env)
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining(`done ${DELIVERIES} of ${DELIVERIES}`) })
    await system.drained()

    expect(await system.count(`counterfoil.act WHERE action = 'redrive'`)).toBe(DELIVERIES)
    expect(await system.count(`counterfoil.plan_result WHERE result = 'done'`)).toBe(DELIVERIES)
    expect(await system.count(`counterfoil.entry WHERE state = 'delivered' AND attempts = 2`)).toBe(DELIVERIES)
    expect(await system.sink.summary()).toMatchObject({ effects: DELIVERIES, repeatedEffects: 0 })
    expect(await findViolations({ ...system, acked })).toEqual([])
  })
})
