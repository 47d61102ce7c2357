import { hasRedisServer, type RedisServer, startRedis, until } from '@counterfoil/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { openSystem, type Receiver, type System } from '../system/open-system.js'
import { findViolations } from '../system/oracles.js'
import { forEachOf, isAck } from '../system/pusher.js'

const BURST = 120

describe.runIf(hasRedisServer())('Redis comes and goes (I7)', () => {
  let system: System
  let redis: RedisServer
  const acked: string[] = []
  afterEach(async () => {
    await system.close()
    await redis.close()
  })

  const pushBurst = async ({ pusher }: Receiver): Promise<readonly number[]> => {
    const took: number[] = []
    const ids = Array.from({ length: BURST }, (_, n) => `evt-${acked.length + n}`)
    await forEachOf(ids, 16, async (id) => {
      const answer = await pusher.push({ id })
      expect(answer).toSatisfy(isAck)
      took.push(answer.ms)
      acked.push(id)
    })
    return took
  }
  const drainHalf = async () => {
    const enough = acked.length - BURST / 2
    await until(async () => (await system.sink.summary()).requests >= enough, { what: 'half of the burst to be sent' })
  }

  it('gone at the start, started, flushed, killed, restarted and black-holed during a drain: all delivered once (case B056: receiver that needs Redis)', async () => {
    redis = await startRedis()
    await redis.kill9()
    system = await openSystem({
      sink: { otherwise: { kind: 'answer', status: 200, delayMs: 50 } },
      env: { COUNTERFOIL_REDIS_URL: redis.url },
    })
    const [receiver] = await Promise.all([system.startReceiver(), system.startWorker()])
    await pushBurst(receiver)
    await drainHalf()
    await redis.start()
    await system.drained()

    await pushBurst(receiver)
    await drainHalf()
    await redis.flush()
    await system.drained()

    await pushBurst(receiver)
    await drainHalf()
    await redis.kill9()
    await system.drained()
    await redis.start()

    await pushBurst(receiver)
    await drainHalf()
    await redis.restart()
    await system.drained()

    // Connections stay open and nobody answers: neither acks nor starts may wait for that.
    redis.pause()
    const took = await pushBurst(receiver)
    expect(Math.max(...took)).toBeLessThan(1_000)
    const [late] = await Promise.all([system.startReceiver(), system.startWorker()])
    await pushBurst(late)
    await system.drained()
    redis.resume()

    expect(await system.sink.summary()).toMatchObject({
      effects: acked.length,
      distinctKeys: acked.length,
      repeatedEffects: 0,
    })
    expect(await findViolations({ ...system, acked })).toEqual([])
  })
})
