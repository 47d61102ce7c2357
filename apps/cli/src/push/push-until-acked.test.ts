import { describe, expect, it } from 'vitest'
import { type PushPlan, pushUntilAcked } from './push-until-acked.js'
import type { PushAnswer } from './send-once.js'

const PLAN: PushPlan = { firstRetryMs: 5_000, maxRetryMs: 60_000, maxAgeMs: 900_000 }
const answered = (status: number, retryAfterMs: number | null = null): PushAnswer => ({
  kind: 'answered',
  status,
  retryAfterMs,
  body: '',
})

/** A queue with a clock of its own: waiting is free. */
async function run(answers: readonly PushAnswer[], plan: Partial<PushPlan> = {}, random = 0.5) {
  let now = 0
  const waits: number[] = []
  const controller = new AbortController()
  const result = await pushUntilAcked(
    { ...PLAN, ...plan },
    {
      send: async (attempt) => answers[Math.min(attempt, answers.length) - 1] ?? answered(500),
      now: () => now,
      wait: async (ms) => {
        waits.push(ms)
        now += ms
        if (waits.length > 1_000) controller.abort()
      },
      random: () => random,
      signal: controller.signal,
      onAttempt: () => {},
    },
  )
  return { kind: result.kind, attempts: result.attempts.length, waits }
}

describe('pushUntilAcked', () => {
  it('stops at the first success', async () => {
    expect(await run([answered(204)])).toEqual({ kind: 'acked', attempts: 1, waits: [] })
  })

  it('tries again after lost and temporary answers, first after about 5 s, then ever longer up to the bound', async () => {
    const failing: PushAnswer[] = [
      { kind: 'dropped' },
      { kind: 'failed', cause: 'ECONNRESET' },
      answered(503),
      answered(429),
    ]
    const { kind, waits } = await run([...failing, answered(500), answered(408), answered(202)])
    expect(kind).toBe('acked')
    expect(waits).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000])
  })

  it('varies every wait by up to a fifth', async () => {
    expect((await run([answered(500), answered(204)], {}, 0)).waits).toEqual([4_000])
    expect((await run([answered(500), answered(204)], {}, 1)).waits).toEqual([6_000])
  })

  it('waits at least as long as it was asked to, within the bound', async () => {
    expect((await run([answered(503, 30_000), answered(204)])).waits).toEqual([30_000])
    expect((await run([answered(503, 86_400_000), answered(204)])).waits).toEqual([60_000])
  })

  it.each([400, 401, 404, 405, 409, 413, 415])('does not repeat what was refused for good (%i)', async (status) => {
    expect(await run([answered(status)])).toMatchObject({ kind: 'refused', attempts: 1 })
  })

  it('gives up when the next try would be too old', async () => {
    const { kind, waits } = await run([answered(503)], { maxAgeMs: 40_000 })
    expect(kind).toBe('too_old')
    expect(waits).toEqual([5_000, 10_000, 20_000])
    expect(await run([answered(503)], { maxAgeMs: 0 })).toMatchObject({ kind: 'too_old', attempts: 1 })
  })
})
