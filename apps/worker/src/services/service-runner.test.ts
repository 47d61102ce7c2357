import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { ServiceRun } from './service.js'
import { createServiceRunner } from './service-runner.js'

const lines: string[] = []
const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) })
const QUIET: ServiceRun = { counts: { expired: 0 }, destinations: [], more: false }

/** A fleet's queue that the test can take away, and a lock that somebody else may hold. */
function openBench(runOnce: () => Promise<ServiceRun>) {
  let scheduled: (() => Promise<void>)[] = []
  let isLate = false
  let isLockHeld = false
  const woken: string[] = []
  const runner = createServiceRunner({
    services: [{ name: 'expire-leases', everyMs: 1_000, runOnce }],
    wakeups: {
      schedule: async (jobs) => {
        scheduled = jobs.map(({ run }) => run)
      },
      isLate: async () => isLate,
    },
    runExclusively: async (_name, work) => {
      if (!isLockHeld) await work()
    },
    onDue: (destination) => woken.push(destination),
    now: () => performance.now(),
    log,
  })
  return {
    runner,
    woken,
    tick: () => Promise.all(scheduled.map((run) => run())),
    setLate: (next: boolean) => {
      isLate = next
    },
    holdLock: (next: boolean) => {
      isLockHeld = next
    },
  }
}

beforeEach(() => {
  vi.useFakeTimers()
  lines.length = 0
})
afterEach(() => {
  vi.useRealTimers()
})

describe('a service', () => {
  test('runs when the queue says so, page after page while there is more, and wakes what became due', async () => {
    const pages: ServiceRun[] = [
      { counts: { expired: 200 }, destinations: ['crm'], more: true },
      { counts: { expired: 3 }, destinations: ['carrier'], more: false },
    ]
    const bench = openBench(async () => pages.shift() ?? QUIET)
    await bench.runner.start()
    await bench.tick()
    expect(bench.woken).toEqual(['crm', 'carrier'])
    expect(lines.filter((line) => line.includes('service.ran'))).toHaveLength(2)
    await bench.runner.stop()
  })

  test('runs once at the start and is then left to the queue, even if another worker gets every tick', async () => {
    const runOnce = vi.fn(async () => QUIET)
    const bench = openBench(runOnce)
    await bench.runner.start()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(runOnce).toHaveBeenCalledTimes(1)
    await bench.runner.stop()
  })

  test('I7: runs by itself at every interval once the queue is late, and goes back to it afterwards', async () => {
    const runOnce = vi.fn(async () => QUIET)
    const bench = openBench(runOnce)
    bench.setLate(true)
    await bench.runner.start()
    await vi.advanceTimersByTimeAsync(5_000)
    expect(runOnce.mock.calls.length).toBeGreaterThanOrEqual(1)
    const before = runOnce.mock.calls.length
    await vi.advanceTimersByTimeAsync(10_000)
    expect(runOnce.mock.calls.length - before).toBeGreaterThanOrEqual(9)
    bench.setLate(false)
    await vi.advanceTimersByTimeAsync(1_500)
    const settled = runOnce.mock.calls.length
    await vi.advanceTimersByTimeAsync(20_000)
    expect(runOnce.mock.calls.length).toBe(settled)
    await bench.runner.stop()
  })

  test('does not run by itself where another process is at it', async () => {
    const runOnce = vi.fn(async () => QUIET)
    const bench = openBench(runOnce)
    bench.setLate(true)
    bench.holdLock(true)
    await bench.runner.start()
    await vi.advanceTimersByTimeAsync(20_000)
    expect(runOnce).not.toHaveBeenCalled()
    await bench.runner.stop()
  })

  test('that fails goes on, and tells of it once per outage', async () => {
    let isDown = true
    const bench = openBench(async () => {
      if (isDown) throw Object.assign(new Error('down'), { code: 'ECONNREFUSED' })
      return QUIET
    })
    await bench.runner.start()
    for (let round = 0; round < 5; round += 1) await bench.tick()
    expect(lines.filter((line) => line.includes('service.failed'))).toHaveLength(1)
    isDown = false
    await bench.tick()
    expect(lines.filter((line) => line.includes('service.resumed'))).toHaveLength(1)
    await bench.runner.stop()
  })

  test('never overlaps itself, and a stop waits for the run under way', async () => {
    let running = 0
    let most = 0
    const bench = openBench(async () => {
      running += 1
      most = Math.max(most, running)
      await new Promise((resolve) => setTimeout(resolve, 500))
      running -= 1
      return QUIET
    })
    await bench.runner.start()
    const ticks = Promise.all([bench.tick(), bench.tick(), bench.tick()])
    await vi.advanceTimersByTimeAsync(100)
    let hasStopped = false
    void bench.runner.stop().then(() => {
      hasStopped = true
    })
    await vi.advanceTimersByTimeAsync(100)
    expect(hasStopped).toBe(false)
    await vi.advanceTimersByTimeAsync(3_000)
    await ticks
    expect(hasStopped).toBe(true)
    expect(most).toBe(1)
  })
})
