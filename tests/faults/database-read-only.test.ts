import { setTimeout as sleep } from 'node:timers/promises'
import { createMigratedDatabase, type PostgresServer, startPostgres, until } from '@counterfoil/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { isReady, openSystem, type System } from '../system/open-system.js'
import { findViolations } from '../system/oracles.js'
import { forEachOf, isAck, type PushAnswer } from '../system/pusher.js'

const BOUND_MS = 3_500

/** The server is up and answers, and takes nothing: as after a failover to a standby, or under somebody's lock. */
describe('the database is there and can not be written', () => {
  let server: PostgresServer
  let system: System
  beforeEach(async () => {
    server = await startPostgres()
    const { url } = await createMigratedDatabase(server.url())
    system = await openSystem({ databaseUrl: url, sink: { otherwise: { kind: 'answer', status: 200, delayMs: 40 } } })
  })
  afterEach(async () => {
    await system.close()
    await server.close()
  })

  /** Pushes through what `during` does and back; returns what was acked. */
  const pushThrough = async (during: (receiver: { healthPort: number }) => Promise<void>) => {
    const [receiver] = await Promise.all([system.startReceiver(), system.startWorker()])
    const ids = Array.from({ length: 200 }, (_, n) => `evt-${n}`)
    await forEachOf(ids, 16, async (id) => void (await receiver.pusher.pushUntilAcked({ id })))
    const [blocked, answers]: [Promise<void>, PushAnswer[]] = [during(receiver), []]
    let isOver = false
    void blocked.finally(() => {
      isOver = true
    })
    const later: string[] = []
    await forEachOf(['a', 'b', 'c', 'd'], 4, async (name) => {
      for (let n = 0; !isOver; n += 1) {
        const answer = await receiver.pusher.push({ id: `during-${name}-${n}` })
        answers.push(answer)
        if (isAck(answer)) ids.push(`during-${name}-${n}`)
        else later.push(`during-${name}-${n}`)
        await sleep(20)
      }
    })
    await blocked
    for (const answer of answers) {
      expect(answer).toMatchObject({ kind: 'answered', status: expect.toBeOneOf([204, 503]) })
      expect(answer.ms).toBeLessThan(BOUND_MS)
    }
    expect(answers.some((answer) => !isAck(answer))).toBe(true)
    await forEachOf(later, 4, async (id) => void (await receiver.pusher.pushUntilAcked({ id })))
    await until(() => isReady(receiver.healthPort), { what: 'the receiver to be ready again' })
    await system.drained(40_000)
    expect(await system.count(`counterfoil.entry WHERE state <> 'delivered'`)).toBe(0)
    expect(await system.sink.summary()).toMatchObject({ repeatedEffects: 0 })
    expect(await findViolations({ ...system, acked: [...ids, ...later] })).toEqual([])
  }

  const setReadOnly = async (value: 'on' | 'off') => {
    // A superuser's session of its own may write in a read-only database: ALTER SYSTEM is no transaction's business.
    await system.pool.query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`)
    await system.pool.query('SELECT pg_reload_conf()')
  }

  it('I1: read-only for 4 s: 503 in bounded time and unready, then everything goes on by itself', async () => {
    await pushThrough(async ({ healthPort }) => {
      await setReadOnly('on')
      await until(async () => !(await isReady(healthPort)), { what: 'the receiver to be unready' })
      await sleep(4_000)
      await setReadOnly('off')
      await sleep(1_500)
    })
  })

  it.each(['due', 'delivery'])(
    'I1: %s locked by a stranger for 4 s: 503 in bounded time, then everything goes on by itself',
    async (table) => {
      await pushThrough(async () => {
        const stranger = await system.pool.connect()
        await stranger.query('BEGIN')
        await stranger.query(`LOCK TABLE counterfoil.${table} IN ACCESS EXCLUSIVE MODE`)
        await sleep(4_000)
        await stranger.query('ROLLBACK')
        stranger.release()
        await sleep(500)
      })
    },
  )
})
