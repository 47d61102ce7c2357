import { setTimeout as sleep } from 'node:timers/promises'
import { createMigratedDatabase, type PostgresServer, startPostgres, until } from '@counterfoil/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { isReady, openSystem, type System } from '../system/open-system.js'
import { findViolations } from '../system/oracles.js'
import { isAck, type PushAnswer } from '../system/pusher.js'

const AWAY_MS = 5_000
const SENDERS = 8
/** The ack deadline is 2 s; the rest is this machine, busy with starting a server. */
const BOUND_MS = 3_500

describe('the database goes away under load', () => {
  let server: PostgresServer
  let system: System
  afterEach(async () => {
    await system.close()
    await server.close()
  })

  it('I1 I3: pushes get 503 in bounded time, then both services recover by themselves and everything is delivered', async () => {
    server = await startPostgres()
    const { url } = await createMigratedDatabase(server.url())
    system = await openSystem({
      databaseUrl: url,
      sink: { otherwise: { kind: 'answer', status: 200, delayMs: 20 } },
    })
    const [receiver] = await Promise.all([system.startReceiver(), system.startWorker()])
    const acked = new Set<string>()
    const answers: { at: number; answer: PushAnswer }[] = []
    let isOver = false
    const sender = async (_: unknown, name: number) => {
      for (let n = 0; !isOver; n += 1) {
        const id = `evt-${name}-${n}`
        for (;;) {
          const answer = await receiver.pusher.push({ id })
          answers.push({ at: performance.now(), answer })
          if (isAck(answer)) break
          await sleep(100)
        }
        acked.add(id)
        await sleep(20)
      }
    }
    const senders = Array.from({ length: SENDERS }, sender)
    await until(() => acked.size > 200, { timeoutMs: 20_000, what: 'traffic' })

    await server.stop('immediate')
    const wentAt = performance.now()
    await until(async () => !(await isReady(receiver.healthPort)), { what: 'the receiver to be unready' })
    await sleep(wentAt + AWAY_MS - performance.now())
    await server.start()
    const cameAt = performance.now()
    await until(() => isReady(receiver.healthPort), { what: 'the receiver to be ready again' })
    const before = acked.size
    await until(() => acked.size > before + 200, { timeoutMs: 20_000, what: 'traffic again' })
    isOver = true
    await Promise.all(senders)

    // Nothing else than success or "later", and no connection was dropped on anybody.
    const others = answers.filter(
      ({ answer }) => answer.kind !== 'answered' || (answer.status !== 204 && answer.status !== 503),
    )
    expect(others.slice(0, 3)).toEqual([])
    const away = answers.filter(({ at }) => at > wentAt + 500 && at < cameAt)
    expect(away.length).toBeGreaterThan(0)
    expect(away.every(({ answer }) => answer.kind === 'answered' && answer.retryAfter !== null)).toBe(true)
    expect(Math.max(...answers.map(({ answer }) => answer.ms))).toBeLessThan(BOUND_MS)

    await system.drained(40_000)
    expect(await system.sink.summary()).toMatchObject({ repeatedEffects: 0 })
    expect(await system.count(`counterfoil.entry WHERE state <> 'delivered'`)).toBe(0)
    expect(await findViolations({ ...system, acked })).toEqual([])
  })
})
