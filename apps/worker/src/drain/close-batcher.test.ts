import type { AttemptClose, CloseResult } from '@counterfoil/db'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { makeEntry } from '../testing/make-entry.js'
import { type CloseStore, createCloseBatcher } from './close-batcher.js'

const log = pino({ level: 'silent' })

function makeClose(id?: string): AttemptClose {
  return {
    leased: makeEntry(id === undefined ? {} : { id }),
    worker: 'w',
    outcome: { kind: 'accepted', status: 200, repeat: false },
    decision: { kind: 'finish', as: 'delivered', repeat: false },
    durationMs: 1,
    detail: null,
    keySent: 'k',
    digestSent: null,
  }
}

const RECORDED: CloseResult = { kind: 'recorded', hasLateOutcome: false }
const connectionLost = () => Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' })

function openBench(answer: (closes: readonly AttemptClose[], call: number) => readonly CloseResult[]) {
  const batches: (readonly AttemptClose[])[] = []
  const recorded: AttemptClose[] = []
  const applied: string[] = []
  const store: CloseStore = {
    closeAttempts: async (closes) => {
      batches.push(closes)
      await new Promise((resolve) => setTimeout(resolve, 10))
      return answer(closes, batches.length)
    },
    recordLateOutcome: async (close) => recorded.push(close),
    applyLateOutcomes: async (entryId) => applied.push(entryId),
  }
  return { batches, recorded, applied, batcher: createCloseBatcher({ store, maxBatch: 100, log, random: () => 0 }) }
}

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

async function settle<Value>(promise: Promise<Value>, ms = 60_000): Promise<Value> {
  await vi.advanceTimersByTimeAsync(ms)
  return promise
}

describe('outcomes share their commits', () => {
  test('what ends while a batch is being written is the next batch', async () => {
    const bench = openBench((closes) => closes.map(() => RECORDED))
    const first = bench.batcher.close(makeClose())
    await vi.advanceTimersByTimeAsync(5)
    const later = ['c', 'a', 'b'].map((id) => bench.batcher.close(makeClose(id)))
    expect(bench.batcher.waiting()).toBe(4)
    expect(await settle(Promise.all([first, ...later]))).toEqual([RECORDED, RECORDED, RECORDED, RECORDED])
    expect(bench.batches.map((batch) => batch.length)).toEqual([1, 3])
    expect(bench.batcher.waiting()).toBe(0)
  })

  test('a lost connection repeats the batch until it is recorded: an outcome is never dropped', async () => {
    const bench = openBench((closes, call) => {
      if (call < 6) throw connectionLost()
      return closes.map(() => RECORDED)
    })
    expect(await settle(Promise.all([bench.batcher.close(makeClose()), bench.batcher.close(makeClose())]))).toEqual([
      RECORDED,
      RECORDED,
    ])
    expect(bench.batches).toHaveLength(6)
    expect(new Set(bench.batches.map((batch) => batch.length))).toEqual(new Set([2]))
  })

  test('I5: the outcome of a lost lease is kept as a late one before its slot is free', async () => {
    const bench = openBench((closes) => closes.map(() => ({ kind: 'lease_lost' })))
    const close = makeClose()
    expect(await settle(bench.batcher.close(close))).toEqual({ kind: 'lease_lost' })
    expect(bench.recorded).toEqual([close])
  })

  test('a late outcome of an earlier lease is applied by the close that finds it', async () => {
    const bench = openBench((closes) => closes.map(() => ({ kind: 'recorded', hasLateOutcome: true })))
    const close = makeClose()
    await settle(bench.batcher.close(close))
    expect(bench.applied).toEqual([close.leased.id])
  })

  test('one outcome that the database refuses holds up nobody else', async () => {
    const poison = makeClose('poison')
    let isMended = false
    const bench = openBench((closes) => {
      if (!isMended && closes.includes(poison)) throw Object.assign(new Error('bad'), { code: '42501' })
      return closes.map(() => RECORDED)
    })
    let poisonResult: CloseResult | null = null
    void bench.batcher.close(poison).then((result) => {
      poisonResult = result
    })
    const others = Array.from({ length: 20 }, () => bench.batcher.close(makeClose()))
    expect(await settle(Promise.all(others))).toHaveLength(20)
    expect(poisonResult).toBeNull()
    isMended = true
    await vi.advanceTimersByTimeAsync(5_000)
    expect(poisonResult).toEqual(RECORDED)
  })
})
