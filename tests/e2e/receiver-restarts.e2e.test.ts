import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findFreePort, startTcpProxy, until } from '@counterfoil/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { openSystem, type Receiver, type System } from '../system/open-system.js'
import { findViolations } from '../system/oracles.js'
import { createPusher, type EventPush, forEachOf, isAck } from '../system/pusher.js'
import { createRandom, shuffle } from '../system/seeded.js'

const PUSHES = 2_000
const DUPLICATES = 600
const RESTARTS = 5
const SEED = 4821

describe('a receiver that is killed again and again', () => {
  let system: System
  afterEach(() => system.close())

  it(`I1 I2: ${PUSHES} pushes, 30 % of them repeats, through ${RESTARTS} kills: what was acked is claimed once (seed ${SEED})`, async () => {
    system = await openSystem()
    const port = await findFreePort()
    const start = () => system.startReceiver({ COUNTERFOIL_PORT: String(port) })
    let receiver: Receiver = await start()
    const [pusher, random] = [createPusher(port), createRandom(SEED)]
    const fresh = Array.from({ length: PUSHES - DUPLICATES }, (_, n) => `evt-${n}`)
    const repeats = Array.from({ length: DUPLICATES }, () => fresh[Math.floor(random() * fresh.length)] ?? '')
    const arrivals = shuffle([...fresh, ...repeats], random)

    // The pusher's own ledger: what it knows, whatever the receiver may believe.
    const acked = new Map<string, number>()
    const vain: string[] = []
    let [acks, kills, restarting] = [0, 0, Promise.resolve()]
    const onAck = (id: string) => {
      acked.set(id, (acked.get(id) ?? 0) + 1)
      acks += 1
      if (kills >= RESTARTS || acks < ((kills + 1) * PUSHES) / (RESTARTS + 2)) return
      kills += 1
      restarting = restarting
        .then(() => receiver.kill9())
        .then(async () => {
          receiver = await start()
        })
    }
    // Every tenth sender never tries again: what becomes of its push is not healed by a redelivery.
    await forEachOf(arrivals, 32, async (id, index) => {
      const event: EventPush = { id, type: 'tell_both' }
      for (;;) {
        if (isAck(await pusher.push(event))) return onAck(id)
        vain.push(id)
        if (index % 10 === 0) return
        await restarting
      }
    })
    await restarting
    pusher.close()
    expect(kills).toBe(RESTARTS)
    expect(vain.length).toBeGreaterThan(0)

    const { rows } = await system.pool.query<{ id: string; arrivals: number }>(
      `SELECT delivery_id AS id, (SELECT count(*)::int FROM counterfoil.observation o WHERE o.delivery = d.id) AS arrivals
       FROM counterfoil.delivery d`,
    )
    const tried = new Map<string, number>()
    for (const id of vain) tried.set(id, (tried.get(id) ?? 0) + 1)
    // Claims are the acked ids, and of the others only such as were pushed without an answer.
    expect(rows.filter(({ id }) => !acked.has(id) && !tried.has(id))).toEqual([])
    expect(rows.length).toBeGreaterThanOrEqual(acked.size)
    expect(await system.count('counterfoil.entry')).toBe(2 * rows.length)
    // Each ack is one observation; an arrival without an answer is one or none.
    const outside = rows.filter(({ id, arrivals: seen }) => {
      const least = acked.get(id) ?? 0
      return seen < least || seen > least + (tried.get(id) ?? 0)
    })
    expect(outside).toEqual([])
    await system.startWorker({ SINK_CONCURRENCY: '64' })
    await system.drained(60_000)
    expect(await system.sink.summary()).toMatchObject({ effects: 2 * rows.length, repeatedEffects: 0 })
    expect(await findViolations({ ...system, acked: acked.keys() })).toEqual([])
  })

  it('keeps a trace of what it could not claim, over its own death, until a later claim closes it', async () => {
    system = await openSystem()
    const proxy = await startTcpProxy({ target: { port: Number(new URL(system.databaseUrl).port) } })
    const through = { COUNTERFOIL_DATABASE_URL: proxy.through(system.databaseUrl) }
    const doomed = await system.startReceiver(through)
    await doomed.pusher.pushUntilAcked({ id: 'evt-before' })
    proxy.refuse()
    const answers = await Promise.all(['evt-later', 'evt-never'].map((id) => doomed.pusher.push({ id })))
    for (const answer of answers) {
      expect(answer).toMatchObject({ kind: 'answered', status: 503, retryAfter: expect.stringMatching(/^\d+$/) })
      // Within its deadline of 2 s, with a little for this machine.
      expect(answer.ms).toBeLessThan(3_500)
    }
    const spooled = async () => {
      const files = await readdir(system.spoolDir)
      const texts = await Promise.all(files.map((file) => readFile(join(system.spoolDir, file), 'utf8')))
      return ['evt-later', 'evt-never'].every((id) => texts.some((text) => text.includes(id)))
    }
    await until(spooled, { what: 'both traces on disk' })
    await doomed.kill9()
    proxy.restore()
    const { pusher } = await system.startReceiver(through)
    await until(async () => (await system.count('counterfoil.unclaimed')) === 2, { what: 'both traces on record' })
    await pusher.pushUntilAcked({ id: 'evt-later' })
    const { rows } = await system.pool.query(
      `SELECT u.delivery_id AS id FROM counterfoil.unclaimed u
       WHERE NOT EXISTS (SELECT FROM counterfoil.delivery d WHERE d.delivery_id = u.delivery_id AND d.source = u.source)`,
    )
    expect(rows).toEqual([{ id: 'evt-never' }])
    const shown = await system.run(['show', 'evt-never'])
    expect(shown.stdout).toMatch(/never queued/i)
    await proxy.close()
  })
})
