import { until } from '@counterfoil/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openSystem, type System } from '../system/open-system.js'
import { findViolations } from '../system/oracles.js'
import { forEachOf, isAck, type PushAnswer } from '../system/pusher.js'

const GRACE_MS = 8_000

describe('hanging destinations and orderly stops', () => {
  let system: System
  beforeEach(async () => {
    system = await openSystem({ env: { COUNTERFOIL_GRACE_MS: String(GRACE_MS) } })
  })
  afterEach(() => system.close())

  const pushMany = async (
    { push }: { push: (event: { id: string; type: 'tell_both' | 'mail' }) => Promise<PushAnswer> },
    name: string,
    n: number,
  ) => {
    const took: number[] = []
    const ids = Array.from({ length: n }, (_, index) => `${name}-${index}`)
    await forEachOf(ids, 16, async (id) => {
      const answer = await push({ id, type: 'tell_both' })
      expect(answer).toSatisfy(isAck)
      took.push(answer.ms)
    })
    return took.sort((a, b) => a - b)[Math.floor(n * 0.95)] ?? Number.NaN
  }

  it('all destinations hang: acks are unaffected, and a worker stops in time with every attempt on record', async () => {
    const [{ pusher }, worker] = await Promise.all([system.startReceiver(), system.startWorker()])
    await pushMany(pusher, 'warm', 100)
    const open = await pushMany(pusher, 'open', 300)
    await system.sink.script({ otherwise: { kind: 'hang', apply: false } })
    const hanging = await pushMany(pusher, 'hanging', 300)
    // Absolute floor: single answers are late by tens of ms on a busy machine.
    expect(hanging, `p95 open ${open} ms, hanging ${hanging} ms`).toBeLessThan(Math.max(2 * open, open + 60))

    await until(async () => (await system.count('counterfoil.lease')) > 0)
    const startedAt = performance.now()
    expect(await worker.terminate()).toEqual({ code: 0, signal: null })
    expect(performance.now() - startedAt).toBeLessThan(GRACE_MS + 1_000)
    // Nothing is left in its hands: what had been sent is uncertain, what had not is due again.
    expect(await system.count('counterfoil.lease')).toBe(0)
    expect(await system.count(`counterfoil.attempt WHERE outcome NOT IN ('accepted', 'uncertain', 'not_sent')`)).toBe(0)

    await system.sink.script({ otherwise: { kind: 'answer', status: 200 } })
    await system.startWorker()
    await system.drained()
    expect(await system.sink.summary()).toMatchObject({ effects: 1_400, repeatedEffects: 0 })
    expect(await findViolations(system)).toEqual([])
  })

  it('I1: a receiver that is stopped under load answers what it took, resets nobody and ends with 0', async () => {
    const receiver = await system.startReceiver()
    const acked = new Set<string>()
    const answers: PushAnswer[] = []
    let isOver = false
    const sender = async (_: unknown, name: number) => {
      for (let n = 0; !isOver; n += 1) {
        const id = `evt-${name}-${n}`
        const answer = await receiver.pusher.push({ id })
        answers.push(answer)
        if (isAck(answer)) acked.add(id)
        // The door is closed: nobody took this one.
        if (answer.kind === 'lost') return
      }
    }
    const senders = Array.from({ length: 24 }, sender)
    await until(() => acked.size > 500, { timeoutMs: 20_000, what: 'traffic' })
    const startedAt = performance.now()
    expect(await receiver.terminate()).toEqual({ code: 0, signal: null })
    expect(performance.now() - startedAt).toBeLessThan(GRACE_MS + 1_000)
    isOver = true
    await Promise.all(senders)

    const lost = answers.flatMap((answer) => (answer.kind === 'lost' ? [answer.code] : []))
    expect(new Set(lost)).toEqual(new Set(['ECONNREFUSED']))
    const statuses = answers.flatMap((answer) => (answer.kind === 'answered' ? [answer.status] : []))
    expect(statuses.filter((status) => status !== 204 && status !== 503)).toEqual([])
    // With the doors closed nothing was left undone: every claim was answered, and every ack is on record.
    expect(await system.count('counterfoil.delivery')).toBe(acked.size)
    expect(await system.count('counterfoil.ack WHERE status = 204')).toBe(acked.size)
    expect(await findViolations({ ...system, acked })).toEqual([])
  })

  it('a worker that is stopped under load finishes what it has in hand and ends with 0', async () => {
    await system.sink.script({ otherwise: { kind: 'answer', status: 200, delayMs: 100 } })
    const [{ pusher }, worker] = await Promise.all([system.startReceiver(), system.startWorker()])
    await pushMany(pusher, 'evt', 300)
    await until(async () => (await system.sink.summary()).requests > 50)
    expect(await worker.terminate()).toEqual({ code: 0, signal: null })
    expect(await system.count('counterfoil.lease')).toBe(0)
    // Each request in flight got its answer and each answer its record: nothing is in doubt. What was leased in that
    // very moment went back unsent.
    const { rows } = await system.pool.query(
      `SELECT outcome, cause FROM counterfoil.attempt WHERE outcome <> 'accepted' GROUP BY outcome, cause`,
    )
    expect([[], [{ outcome: 'not_sent', cause: 'lease_returned' }]]).toContainEqual(rows)
    expect(await system.count(`counterfoil.entry WHERE state = 'delivered'`)).toBe(
      (await system.sink.summary()).effects,
    )
    await system.startWorker()
    await system.drained()
    expect(await system.sink.summary()).toMatchObject({ requests: 600, effects: 600 })
    expect(await findViolations(system)).toEqual([])
  })

  it('I6: a worker whose requests outlast the grace gives up on them in time and says what it knows', async () => {
    await system.sink.script({ otherwise: { kind: 'hang', apply: true } })
    const patient = { SINK_TOTAL: '25s', SINK_LEASE: '40s', COUNTERFOIL_GRACE_MS: '3000' }
    const [{ pusher }, worker] = await Promise.all([system.startReceiver(), system.startWorker(patient)])
    await pusher.pushUntilAcked({ id: 'evt-key' })
    await pusher.pushUntilAcked({ id: 'evt-none', type: 'mail' })
    await until(async () => (await system.sink.summary()).requests === 2)
    const startedAt = performance.now()
    expect(await worker.terminate()).toEqual({ code: 0, signal: null })
    expect(performance.now() - startedAt).toBeLessThan(3_500)
    expect(await system.count('counterfoil.lease')).toBe(0)
    expect(await system.count(`counterfoil.attempt WHERE outcome = 'uncertain'`)).toBe(2)
    await system.sink.script({ otherwise: { kind: 'answer', status: 200 } })

    // A second signal waits for nothing.
    const other = await system.startWorker({ ...patient, COUNTERFOIL_GRACE_MS: '60000' })
    await system.drained()
    await system.sink.script({ otherwise: { kind: 'hang', apply: true } })
    await pusher.pushUntilAcked({ id: 'evt-last' })
    await until(async () => (await system.sink.requests()).some(({ key }) => key === 'evt-last/notify'))
    other.signal('SIGTERM')
    await other.waitForLog(({ msg }) => msg === 'worker.stopping')
    const secondAt = performance.now()
    expect(await other.terminate()).toEqual({ code: 1, signal: null })
    expect(performance.now() - secondAt).toBeLessThan(2_000)
    expect(await system.sink.summary()).toMatchObject({ effects: 3, repeatedEffects: 0 })
    expect(await findViolations(system)).toEqual([])
  })
})
