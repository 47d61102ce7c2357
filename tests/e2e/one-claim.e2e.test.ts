import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSystem, type Receiver, type System } from '../system/open-system.js'
import { findViolations } from '../system/oracles.js'
import { isAck } from '../system/pusher.js'

describe('one delivery, however often and wherever it arrives', () => {
  let system: System
  let one: Receiver
  let two: Receiver
  beforeAll(async () => {
    system = await openSystem()
    ;[one, two] = await Promise.all([system.startReceiver(), system.startReceiver(), system.startWorker()])
  })
  afterAll(() => system.close())

  it('I2: the same signed push twice gets the same answer and makes one claim', async () => {
    const first = await one.pusher.push({ id: 'evt-1' })
    const second = await one.pusher.push({ id: 'evt-1' })
    expect(first).toMatchObject({ kind: 'answered', status: 204 })
    expect(second).toMatchObject({ kind: 'answered', status: 204 })
    expect(await system.count('counterfoil.delivery')).toBe(1)
    expect(await system.count('counterfoil.observation')).toBe(2)
    await system.drained()
    expect(await system.sink.summary()).toMatchObject({ requests: 1, effects: 1 })
    expect(await findViolations({ ...system, acked: ['evt-1'] })).toEqual([])
  })

  it('I2 I3: 50 copies at once over two receivers make one claim, 50 observations, one entry and one effect (case B025: copies at the same moment)', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => (n % 2 === 0 ? one : two).pusher.push({ id: 'evt-50' })),
    )
    expect(answers.filter(isAck)).toHaveLength(50)
    const { rows } = await system.pool.query<{ number: number; kind: string; instance: string }>(
      `SELECT o.number, o.kind, o.instance
       FROM counterfoil.observation o JOIN counterfoil.delivery d ON d.id = o.delivery
       WHERE d.delivery_id = 'evt-50' ORDER BY o.number`,
    )
    expect(rows.map(({ number }) => number)).toEqual(answers.map((_, n) => n + 1))
    expect(rows.map(({ kind }) => kind)).toEqual(['first', ...Array.from({ length: 49 }, () => 'duplicate')])
    expect(new Set(rows.map(({ instance }) => instance))).toEqual(new Set([one.instance, two.instance]))
    expect(await system.count('counterfoil.delivery')).toBe(2)
    expect(await system.count('counterfoil.entry')).toBe(2)
    await system.drained()
    expect(await system.sink.summary()).toMatchObject({ effects: 2, repeatedEffects: 0 })
    expect(await findViolations({ ...system, acked: ['evt-1', 'evt-50'] })).toEqual([])
  })
})
