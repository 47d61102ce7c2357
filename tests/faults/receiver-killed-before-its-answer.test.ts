import { endsWithReadyForQuery, mentions, startTcpProxy, type TcpProxy, until } from '@counterfoil/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openSystem, type System } from '../system/open-system.js'
import { findViolations } from '../system/oracles.js'

/** The COMMIT of the session that spoke of the hold: others commit too, wake-ups for one. */
const commitsHold = (sent: Buffer) => sent.includes('hold-1') && sent.includes('COMMIT')

describe('between the commit of a claim and its answer', () => {
  let system: System
  let proxy: TcpProxy
  beforeEach(async () => {
    system = await openSystem()
    await system.pool.query(
      `CREATE SCHEMA app;
       CREATE TABLE app.hold (id text PRIMARY KEY, status text NOT NULL, due_at timestamptz NOT NULL);
       INSERT INTO app.hold VALUES ('hold-1', 'held', now() - interval '1 minute')`,
    )
    proxy = await startTcpProxy({ target: { port: Number(new URL(system.databaseUrl).port) } })
  })
  afterEach(async () => {
    await system.close()
    await proxy.close()
  })

  const startBehindProxy = () => system.startReceiver({ COUNTERFOIL_DATABASE_URL: proxy.through(system.databaseUrl) })

  it.each([
    ['a notification', 'notify', mentions('claim_deliveries')],
    ['an expiry', 'expire', commitsHold],
  ] as const)(
    'I1 I2: the receiver is killed: %s is claimed, and its redelivery a duplicate',
    async (_what, type, when) => {
      const event = { id: 'evt-1', type, subject: 'hold-1' }
      const doomed = await startBehindProxy()
      // The server has committed and says so; the receiver never hears it.
      proxy.arm({ kind: 'lose_reply', when, how: 'hang', isComplete: endsWithReadyForQuery })
      const answer = doomed.pusher.push(event)
      await until(async () => (await system.count('counterfoil.delivery')) === 1, { everyMs: 5 })
      await doomed.kill9()
      expect(await answer).toMatchObject({ kind: 'lost' })
      expect(await system.count('counterfoil.ack')).toBe(0)

      const { pusher } = await system.startReceiver()
      expect(await pusher.push(event)).toMatchObject({ kind: 'answered', status: 204 })
      await system.startWorker()
      await system.drained()
      const { rows } = await system.pool.query('SELECT number, kind FROM counterfoil.observation ORDER BY number')
      expect(rows).toEqual([
        { number: 1, kind: 'first' },
        { number: 2, kind: 'duplicate' },
      ])
      expect(await system.count('counterfoil.transition_outcome')).toBe(type === 'expire' ? 1 : 0)
      expect(await system.sink.summary()).toMatchObject({ requests: 1, effects: 1 })
      expect(await findViolations({ ...system, acked: ['evt-1'] })).toEqual([])
    },
  )

  it('I1 I2: the reply of the commit is lost: it is asked again, answered with success and counted once', async () => {
    const { pusher } = await startBehindProxy()
    const lost = { kind: 'lose_reply', how: 'cut', isComplete: endsWithReadyForQuery } as const
    proxy.arm({ ...lost, when: mentions('claim_deliveries') })
    expect(await pusher.push({ id: 'evt-1' })).toMatchObject({ kind: 'answered', status: 204 })
    proxy.arm({ ...lost, when: commitsHold })
    const answer = await pusher.push({ id: 'evt-2', type: 'expire', subject: 'hold-1' })
    expect(answer).toMatchObject({ kind: 'answered', status: 204 })
    expect(proxy.struck()).toBe(2)
    expect(await system.count('counterfoil.delivery')).toBe(2)
    expect(await system.count('counterfoil.observation')).toBe(2)
    expect(await system.count(`app.hold WHERE status = 'expired'`)).toBe(1)
    expect(await findViolations({ ...system, acked: ['evt-1', 'evt-2'] })).toEqual([])
  })

  it('I1: "answered 503, committed later" is on record as such, and its redelivery is a duplicate', async () => {
    const { pusher } = await startBehindProxy()
    const stranger = await system.pool.connect()
    await stranger.query('BEGIN')
    // Holds the claim back past the ack deadline, inside its transaction.
    await stranger.query('LOCK TABLE counterfoil.observation IN ACCESS EXCLUSIVE MODE')
    const answer = await pusher.push({ id: 'evt-1' })
    expect(answer).toMatchObject({ kind: 'answered', status: 503, retryAfter: expect.any(String) })
    expect(answer.ms).toBeLessThan(3_500)
    await stranger.query('ROLLBACK')
    stranger.release()
    await until(async () => (await system.count('counterfoil.delivery')) === 1, { what: 'the late commit' })
    await until(async () => (await system.count('counterfoil.ack WHERE status = 503')) === 1, { what: 'its ack row' })
    expect(await pusher.push({ id: 'evt-1' })).toMatchObject({ kind: 'answered', status: 204 })
    expect(await system.count('counterfoil.observation')).toBe(2)
    expect(await findViolations({ ...system, acked: ['evt-1'] })).toEqual([])
  })
})
