import type { LeasedEntry } from '@counterfoil/core'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { makeEntry } from '../testing/make-entry.js'
import { createLeasing } from './leasing.js'

const lines: string[] = []
const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) })

function openBench() {
  let tokens = 0
  const leased: string[] = []
  const handedBack: string[] = []
  let lease: (token: string) => readonly LeasedEntry[] = () => []
  let isHandBackDown = false
  const leasing = createLeasing({
    destination: 'crm',
    store: {
      leaseDue: async ({ token }) => {
        leased.push(token)
        return lease(token)
      },
      handBackLease: async (token) => {
        if (isHandBackDown) throw Object.assign(new Error('down'), { code: 'ECONNREFUSED' })
        handedBack.push(token)
        return 1
      },
    },
    newToken: () => {
      tokens += 1
      return `t${tokens}`
    },
    now: () => performance.now(),
    random: () => 0,
    log,
  })
  return {
    leasing,
    leased,
    handedBack,
    onLease: (next: typeof lease) => {
      lease = next
    },
    breakHandBack: (isDown: boolean) => {
      isHandBackDown = isDown
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

async function ask(bench: ReturnType<typeof openBench>, ms = 2_000) {
  const asked = bench.leasing.lease({ limit: 5, dueFrom: null })
  await vi.advanceTimersByTimeAsync(ms)
  return asked
}

const fail = (code: string) => () => {
  throw Object.assign(new Error('failed'), { code })
}

describe('leasing', () => {
  test('every call has a token of its own', async () => {
    const bench = openBench()
    await ask(bench)
    await ask(bench)
    expect(bench.leased).toEqual(['t1', 't2'])
  })

  test('a lost reply hands its rows back by token before anything else is leased, and looks once more later', async () => {
    const bench = openBench()
    bench.onLease(fail('ECONNRESET'))
    expect(await ask(bench)).toEqual([])
    bench.onLease(() => [makeEntry()])
    expect(await ask(bench)).toHaveLength(1)
    expect(bench.handedBack).toEqual(['t1'])
    await vi.advanceTimersByTimeAsync(16_000)
    await ask(bench)
    expect(bench.handedBack).toEqual(['t1', 't1'])
    await vi.advanceTimersByTimeAsync(60_000)
    await ask(bench)
    expect(bench.handedBack).toHaveLength(2)
  })

  test('what the server refused by its own word was not leased', async () => {
    const bench = openBench()
    bench.onLease(fail('57014'))
    await ask(bench)
    bench.onLease(() => [])
    await ask(bench)
    expect(bench.handedBack).toEqual([])
  })

  test('nothing is leased while lost rows cannot be handed back, and one line tells of the outage', async () => {
    const bench = openBench()
    bench.breakHandBack(true)
    bench.onLease(fail('ECONNREFUSED'))
    await ask(bench)
    for (let round = 0; round < 5; round += 1) expect(await ask(bench)).toEqual([])
    expect(bench.leased).toEqual(['t1'])
    expect(lines.filter((line) => line.includes('lease.failed'))).toHaveLength(1)
    bench.breakHandBack(false)
    bench.onLease(() => [makeEntry()])
    expect(await ask(bench)).toHaveLength(1)
    expect(lines.some((line) => line.includes('lease.resumed'))).toBe(true)
  })

  test('gives back by token what was never sent', async () => {
    const bench = openBench()
    await bench.leasing.giveBack([makeEntry({ lease: { token: 'mine' } }), makeEntry({ lease: { token: 'mine' } })])
    expect(bench.handedBack).toEqual(['mine'])
  })
})
