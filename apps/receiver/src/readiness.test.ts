import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import type { ClockReading } from './clock-offset.js'
import { createHealthServer } from './health.js'
import { createReadiness, type ReadinessOptions } from './readiness.js'

const IN_TIME: ClockReading = { kind: 'known', now: 1, offsetMs: 3 }

function makeReadiness(changes: Partial<ReadinessOptions> = {}) {
  return createReadiness({
    checkDatabase: async () => [],
    readClock: () => IN_TIME,
    isDraining: () => false,
    monotonicNow: () => performance.now(),
    ...changes,
  })
}
const failing = async (changes: Partial<ReadinessOptions>) =>
  (await makeReadiness(changes)()).filter((check) => !check.ok).map(({ name, detail }) => `${name}: ${detail}`)

describe('readiness', () => {
  it('is given when the database is fit, the clock is near and nobody stops us', async () => {
    expect(await failing({})).toEqual([])
  })

  it('is refused with the reason', async () => {
    expect(await failing({ isDraining: () => true })).toEqual(['lifecycle: draining'])
    expect(await failing({ readClock: () => ({ kind: 'unknown' }) })).toEqual([
      expect.stringMatching(/^clock: .*not known/),
    ])
    const off: ClockReading = { kind: 'off', now: 1, offsetMs: 600_000 }
    expect(await failing({ readClock: () => off })).toEqual([expect.stringMatching(/^clock: 600000 ms off/)])
    const problems = async () => ['The schema is older than this program.']
    expect(await failing({ checkDatabase: problems })).toEqual(['database: The schema is older than this program.'])
  })

  it('does not wait longer than 500 ms for the database', async () => {
    const startedAt = performance.now()
    expect(await failing({ checkDatabase: () => new Promise(() => {}) })).toEqual(['database: no answer within 500 ms'])
    expect(performance.now() - startedAt).toBeLessThan(800)
  })

  it('asks the database once for many probes, and again after 2 s', async () => {
    let asked = 0
    let now = 0
    const check = makeReadiness({
      checkDatabase: async () => {
        asked += 1
        return []
      },
      monotonicNow: () => now,
    })
    await Promise.all([check(), check(), check()])
    await check()
    expect(asked).toBe(1)
    now = 2000
    await check()
    expect(asked).toBe(2)
  })
})

describe('the probes', () => {
  it('answer alive whatever the database does, and ready only when it is', async () => {
    let problems: readonly string[] = []
    let now = 0
    const monotonicNow = () => (now += 5000)
    const check = makeReadiness({ checkDatabase: async () => problems, monotonicNow })
    const server = createHealthServer(check)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    expect((await fetch(`${base}/readyz`)).status).toBe(200)
    problems = ['away']
    const unready = await fetch(`${base}/readyz`)
    expect(unready.status).toBe(503)
    expect(await unready.json()).toMatchObject({
      status: 'not_ready',
      checks: [{}, {}, { name: 'database', detail: 'away' }],
    })
    expect((await fetch(`${base}/livez`)).status).toBe(200)
    expect((await fetch(`${base}/hooks/tickets`, { method: 'POST' })).status).toBe(404)
    server.closeAllConnections()
    server.close()
  })
})
