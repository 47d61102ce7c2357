import { createMigratedDatabase, type PostgresServer, startPostgres, until } from '@counterfoil/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { openSystem, type System } from '../system/open-system.js'
import { findViolations } from '../system/oracles.js'
import { forEachOf } from '../system/pusher.js'

const ENTRIES = 600
const KILLS = 3

describe('PostgreSQL is killed during a drain, with its default durability', () => {
  let server: PostgresServer
  let system: System
  afterEach(async () => {
    await system.close()
    await server.close()
  })

  it('I3 I4 I6: the worker goes on by itself, everything is delivered, nothing under a second key', async () => {
    server = await startPostgres()
    const { url } = await createMigratedDatabase(server.url())
    system = await openSystem({
      databaseUrl: url,
      sink: { otherwise: { kind: 'answer', status: 200, delayMs: 60 } },
    })
    const receiver = await system.startReceiver()
    const ids = Array.from({ length: ENTRIES }, (_, n) => `evt-${n}`)
    await forEachOf(ids, 32, async (id) => {
      await receiver.pusher.pushUntilAcked({ id })
    })
    const worker = await system.startWorker()
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const enough = (kill * ENTRIES) / (KILLS + 2)
      await until(async () => (await system.sink.summary()).effects > enough, { timeoutMs: 40_000, everyMs: 10 })
      await server.kill9()
      await server.start()
    }
    await system.drained(60_000)
    expect(worker.isRunning()).toBe(true)
    expect(await system.sink.summary()).toMatchObject({ effects: ENTRIES, distinctKeys: ENTRIES, repeatedEffects: 0 })
    expect(await system.count(`counterfoil.entry WHERE state = 'delivered'`)).toBe(ENTRIES)
    expect(await findViolations({ ...system, acked: ids })).toEqual([])
  })
})
