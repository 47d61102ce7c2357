import { startTcpProxy, type TcpProxy, until } from '@counterfoil/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openSystem, type System } from '../system/open-system.js'
import { findViolations } from '../system/oracles.js'
import { forEachOf } from '../system/pusher.js'

/**
 * A firewall forgot the connections: they stay open, what is sent into them is gone, and nobody says so. New ones work.
 */
describe('the connections to the database are half-open', () => {
  let system: System
  let proxy: TcpProxy
  beforeEach(async () => {
    system = await openSystem()
    proxy = await startTcpProxy({ target: { port: Number(new URL(system.databaseUrl).port) } })
  })
  afterEach(async () => {
    await system.close()
    await proxy.close()
  })
  const through = () => ({ COUNTERFOIL_DATABASE_URL: proxy.through(system.databaseUrl) })
  const loseAllOpen = () => proxy.arm({ kind: 'lose_reply', when: () => true, how: 'hang', times: proxy.connections() })

  it('I1: the receiver answers 503 in time, gets itself new ones, and takes pushes again', async () => {
    const { pusher } = await system.startReceiver(through())
    await forEachOf(
      Array.from({ length: 50 }, (_, n) => `warm-${n}`),
      16,
      async (id) => void (await pusher.pushUntilAcked({ id })),
    )
    loseAllOpen()
    const ids = Array.from({ length: 40 }, (_, n) => `evt-${n}`)
    const slowest = { ms: 0 }
    await forEachOf(ids, 20, async (id) => {
      for (;;) {
        const answer = await pusher.push({ id })
        slowest.ms = Math.max(slowest.ms, answer.ms)
        expect(answer.kind).toBe('answered')
        if (answer.kind === 'answered' && answer.status === 204) return
      }
    })
    expect(slowest.ms).toBeLessThan(3_500)
    expect(await system.count(`counterfoil.delivery WHERE delivery_id LIKE 'evt-%'`)).toBe(40)
    expect(await findViolations({ ...system, acked: ids })).toEqual([])
  })

  it('I3 I5: the worker gets itself new ones, and everything is delivered once', async () => {
    await system.sink.script({ otherwise: { kind: 'answer', status: 200, delayMs: 50 } })
    const { pusher } = await system.startReceiver()
    const ids = Array.from({ length: 300 }, (_, n) => `evt-${n}`)
    await forEachOf(ids, 16, async (id) => void (await pusher.pushUntilAcked({ id })))
    const worker = await system.startWorker(through())
    await until(async () => (await system.sink.summary()).requests > 60, { everyMs: 5 })
    loseAllOpen()
    await system.drained(90_000)
    expect(worker.isRunning()).toBe(true)
    expect(await system.sink.summary()).toMatchObject({ effects: 300, distinctKeys: 300, repeatedEffects: 0 })
    expect(await findViolations({ ...system, acked: ids })).toEqual([])
  })
})
