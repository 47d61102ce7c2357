import { startTcpProxy, until } from '@counterfoil/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openSystem, type System } from '../system/open-system.js'
import { findViolations } from '../system/oracles.js'
import { readAttempts } from '../system/read-attempts.js'

/**
 * kill -9 between the first byte of a request and the record of its outcome. What follows depends on one thing only:
 * does the destination recognise a repeat?
 */
describe('a worker is killed inside the send window', () => {
  let system: System
  beforeEach(async () => {
    system = await openSystem()
  })
  afterEach(() => system.close())

  /** One action for a destination that knows keys, one for a destination that doesn't. */
  const pushBoth = async () => {
    const { pusher } = await system.startReceiver()
    await pusher.pushUntilAcked({ id: 'evt-key', type: 'notify' })
    await pusher.pushUntilAcked({ id: 'evt-none', type: 'mail' })
  }
  const bothAsked = () =>
    until(async () => (await system.sink.summary()).requests === 2, { what: 'both requests to be at the sink' })

  const expectHonestEnd = async (keyOutcome: { repeat: boolean }) => {
    await system.startWorker()
    await system.drained()
    const withKey = await readAttempts(system.pool, 'evt-key/notify')
    expect(withKey).toMatchObject([
      { number: 1, outcome: 'uncertain', cause: 'worker_lost', state: 'delivered' },
      { number: 2, outcome: 'accepted', key: 'evt-key/notify', repeat: keyOutcome.repeat },
    ])
    // Never sent again by itself: the doubt waits for a person (I6).
    expect(await readAttempts(system.pool, 'evt-none/mail')).toMatchObject([
      { number: 1, outcome: 'uncertain', cause: 'worker_lost', state: 'uncertain' },
    ])
    const requests = await system.sink.requests()
    expect(requests.filter(({ path }) => path === '/mailer')).toHaveLength(1)
    expect(await system.sink.summary()).toMatchObject({ repeatedEffects: 0 })
    expect(await findViolations({ ...system, acked: ['evt-key', 'evt-none'] })).toEqual([])
    const shown = await system.run(['show', 'evt-none'])
    expect(shown.stdout).toMatch(/unknown/i)
  }

  it('I3 I6: no answer had come, and the destination had worked: same key once more, or a person', async () => {
    await system.sink.script({ otherwise: { kind: 'hang', apply: true } })
    await pushBoth()
    const worker = await system.startWorker()
    await bothAsked()
    await worker.kill9()
    await system.sink.script({ otherwise: { kind: 'answer', status: 200 } })
    await expectHonestEnd({ repeat: true })
    expect((await system.sink.summary()).effects).toBe(2)
  })

  it('I3 I6: no answer had come, and the destination had not worked: same key once more, or a person', async () => {
    await system.sink.script({ otherwise: { kind: 'hang', apply: false } })
    await pushBoth()
    const worker = await system.startWorker()
    await bothAsked()
    await worker.kill9()
    await system.sink.script({ otherwise: { kind: 'answer', status: 200 } })
    await expectHonestEnd({ repeat: false })
  })

  it('I6: the answer was yes and could not be recorded before the end', async () => {
    const proxy = await startTcpProxy({ target: { port: Number(new URL(system.databaseUrl).port) } })
    await system.sink.script({ otherwise: { kind: 'answer', status: 200, delayMs: 300 } })
    await pushBoth()
    const worker = await system.startWorker({ COUNTERFOIL_DATABASE_URL: proxy.through(system.databaseUrl) })
    await bothAsked()
    // From here on nothing is recorded; the answers are still under way.
    proxy.pause()
    await until(async () => (await system.sink.requests()).every(({ did }) => did === 'answered'))
    await worker.kill9()
    await proxy.close()
    await system.sink.script({ otherwise: { kind: 'answer', status: 200 } })
    await expectHonestEnd({ repeat: true })
  })
})
