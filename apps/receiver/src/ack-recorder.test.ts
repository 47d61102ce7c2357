import type { AckRecord } from '@counterfoil/core'
import { until } from '@counterfoil/testkit'
import pino from 'pino'
import { describe, expect, it } from 'vitest'
import { createAckRecorder } from './ack-recorder.js'

const log = pino({ level: 'silent' })
const ack = (observationId: string): AckRecord => ({
  deliveryUuid: 'd',
  observationId,
  status: 204,
  result: 'written',
  answeredAt: 1,
})

function makeRecorder(options: { failures?: number; maxBuffered?: number } = {}) {
  const batches: (readonly AckRecord[])[] = []
  let failures = options.failures ?? 0
  const recordAcks = async (acks: readonly AckRecord[]) => {
    if (failures > 0) {
      failures -= 1
      throw new Error('away')
    }
    batches.push(acks)
  }
  const recorder = createAckRecorder({ store: { recordAcks }, maxBuffered: options.maxBuffered ?? 100_000, log })
  return { recorder, batches, written: () => batches.flat().map(({ observationId }) => observationId) }
}

describe('the ack recorder', () => {
  it('writes what came together as one batch, within 200 ms', async () => {
    const { recorder, batches } = makeRecorder()
    const startedAt = performance.now()
    for (const id of ['1', '2', '3']) recorder.record(ack(id))
    expect(batches).toEqual([])
    await until(() => batches.length > 0, { everyMs: 5 })
    expect(performance.now() - startedAt).toBeLessThan(200)
    expect(batches.map((batch) => batch.length)).toEqual([3])
  })

  it('does not wait for the time when a batch is full', async () => {
    const { recorder, batches } = makeRecorder()
    for (let id = 0; id < 1000; id += 1) recorder.record(ack(String(id)))
    await Promise.resolve()
    expect(batches).toHaveLength(1)
  })

  it('writes a failed batch again, in order and without loss', async () => {
    const { recorder, written } = makeRecorder({ failures: 1 })
    recorder.record(ack('1'))
    await until(() => written().length === 0)
    recorder.record(ack('2'))
    await until(() => written().length === 2)
    expect(written()).toEqual(['1', '2'])
  })

  it('writes everything on drain, also through a failure', async () => {
    const { recorder, written } = makeRecorder({ failures: 1 })
    for (let id = 0; id < 2500; id += 1) recorder.record(ack(String(id)))
    expect(await recorder.drain(performance.now() + 5000)).toBe(0)
    expect(written()).toHaveLength(2500)
  })

  it('gives up at the deadline of a drain and says how many are lost', async () => {
    const { recorder } = makeRecorder({ failures: 1000 })
    recorder.record(ack('1'))
    const startedAt = performance.now()
    expect(await recorder.drain(startedAt + 300)).toBe(1)
    expect(performance.now() - startedAt).toBeLessThan(600)
  })

  it('drops the oldest beyond its bound and counts them', async () => {
    const { recorder, written } = makeRecorder({ maxBuffered: 10, failures: 1 })
    for (let id = 0; id < 11; id += 1) recorder.record(ack(String(id)))
    expect(await recorder.drain(performance.now() + 5000)).toBe(10)
    expect(written()).toEqual(['10'])
  })
})
