import { startTcpProxy, until } from '@counterfoil/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openSystem, type System } from '../system/open-system.js'
import { findViolations } from '../system/oracles.js'
import { readAttempts } from '../system/read-attempts.js'

/** SIGSTOP for longer than the lease, then SIGCONT: a process that believes it still owns what it was doing. */
describe('a worker sleeps through its lease and wakes up', () => {
  let system: System
  beforeEach(async () => {
    system = await openSystem()
  })
  afterEach(() => system.close())

  const lateOutcomes = async () =>
    (
      await system.pool.query<{ key: string; number: number; outcome: string; worker: string }>(
        `SELECT e.idempotency_key AS key, l.number, l.outcome, l.worker
         FROM counterfoil.late_outcome l JOIN counterfoil.entry e ON e.id = l.entry ORDER BY 1`,
      )
    ).rows

  it('I5: its late answer is kept, overwrites nothing, ends a doubt that is still open, and nothing is sent twice', async () => {
    await system.sink.script({ otherwise: { kind: 'answer', status: 200, delayMs: 400 } })
    const { pusher } = await system.startReceiver()
    const sleeper = await system.startWorker()
    await pusher.pushUntilAcked({ id: 'evt-key', type: 'notify' })
    await pusher.pushUntilAcked({ id: 'evt-none', type: 'mail' })
    await until(async () => (await system.sink.summary()).requests === 2, { everyMs: 5 })
    sleeper.pause()
    // The answers arrive in the meantime and lie in its sockets.
    const other = await system.startWorker()
    await until(async () => (await system.count('counterfoil.attempt WHERE cause = $$worker_lost$$')) === 2, {
      timeoutMs: 30_000,
      what: 'both leases to be taken from the sleeper',
    })
    await until(async () => (await readAttempts(system.pool, 'evt-key/notify')).length === 2)
    expect(await readAttempts(system.pool, 'evt-none/mail')).toMatchObject([{ state: 'uncertain' }])

    sleeper.resume()
    await until(async () => (await lateOutcomes()).length === 2, { what: 'both late outcomes on record' })
    expect(await lateOutcomes()).toEqual([
      { key: 'evt-key/notify', number: 1, outcome: expect.any(String), worker: sleeper.instance },
      { key: 'evt-none/mail', number: 1, outcome: expect.any(String), worker: sleeper.instance },
    ])
    await system.drained()
    // What was on record stays as it was.
    expect(await readAttempts(system.pool, 'evt-key/notify')).toMatchObject([
      { number: 1, worker: sleeper.instance, outcome: 'uncertain', cause: 'worker_lost', state: 'delivered' },
      { number: 2, worker: other.instance, outcome: 'accepted', repeat: true },
    ])
    const [late] = (await lateOutcomes()).filter(({ key }) => key === 'evt-none/mail')
    const [mail] = await readAttempts(system.pool, 'evt-none/mail')
    expect(mail).toMatchObject({ outcome: 'uncertain', cause: 'worker_lost' })
    // A late yes is the definite answer; a late "I don't know either" changes nothing.
    expect(mail?.state).toBe(late?.outcome === 'accepted' ? 'delivered' : 'uncertain')
    expect(await system.sink.summary()).toMatchObject({ effects: 2, repeatedEffects: 0 })
    expect((await system.sink.requests()).filter(({ path }) => path === '/mailer')).toHaveLength(1)
    expect(await findViolations({ ...system, acked: ['evt-key', 'evt-none'] })).toEqual([])
  })

  it('I5 I6: a yes that could not be recorded in time is kept when it can, and ends the doubt that it left', async () => {
    const proxy = await startTcpProxy({ target: { port: Number(new URL(system.databaseUrl).port) } })
    await system.sink.script({ otherwise: { kind: 'answer', status: 200, delayMs: 300 } })
    const { pusher } = await system.startReceiver()
    const late = await system.startWorker({ COUNTERFOIL_DATABASE_URL: proxy.through(system.databaseUrl) })
    await pusher.pushUntilAcked({ id: 'evt-none', type: 'mail' })
    await until(async () => (await system.sink.summary()).requests === 1, { everyMs: 5 })
    // It gets its answer and can tell nobody, until its lease is over and somebody else has drawn the conclusion.
    proxy.pause()
    await system.startWorker()
    await until(async () => (await readAttempts(system.pool, 'evt-none/mail')).length === 1, { timeoutMs: 30_000 })
    expect(await readAttempts(system.pool, 'evt-none/mail')).toMatchObject([{ state: 'uncertain' }])
    proxy.restore()
    await until(async () => (await lateOutcomes()).length === 1, { timeoutMs: 30_000, what: 'the late outcome' })
    expect(await lateOutcomes()).toMatchObject([{ number: 1, outcome: 'accepted', worker: late.instance }])
    // Kept first, applied in a step of its own.
    const entryState = async () => (await readAttempts(system.pool, 'evt-none/mail'))[0]?.state
    await until(async () => (await entryState()) === 'delivered', { what: 'the late outcome to be applied' })
    expect(await readAttempts(system.pool, 'evt-none/mail')).toMatchObject([
      { number: 1, outcome: 'uncertain', cause: 'worker_lost', state: 'delivered' },
    ])
    expect(await system.sink.summary()).toMatchObject({ requests: 1, effects: 1 })
    expect(await findViolations({ ...system, acked: ['evt-none'] })).toEqual([])
    await proxy.close()
  })

  it('I4: what it had leased and not yet sent never leaves, and it goes on working', async () => {
    await system.sink.script({ otherwise: { kind: 'answer', status: 200, delayMs: 250 } })
    const { pusher } = await system.startReceiver()
    const sleeper = await system.startWorker({ SINK_CONCURRENCY: '8' })
    const ids = Array.from({ length: 120 }, (_, n) => `evt-${n}`)
    await Promise.all(ids.map((id) => pusher.pushUntilAcked({ id })))
    await until(async () => (await system.sink.summary()).requests > 20, { everyMs: 5 })
    sleeper.pause()
    await system.startWorker({ SINK_CONCURRENCY: '8' })
    await until(async () => (await system.count(`counterfoil.lease WHERE worker = '${sleeper.instance}'`)) === 0, {
      timeoutMs: 30_000,
      what: 'the leases of the sleeper to be taken from it',
    })
    sleeper.resume()
    await system.drained()
    await pusher.pushUntilAcked({ id: 'evt-after' })
    await system.drained()
    expect(await system.sink.summary()).toMatchObject({ effects: 121, distinctKeys: 121, repeatedEffects: 0 })
    expect(await findViolations({ ...system, acked: [...ids, 'evt-after'] })).toEqual([])
  })
})
