import { until } from '@counterfoil/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DestinationContracts, redriveEntry } from '../acts/index.js'
import {
  ACCEPTED,
  DEAD_LETTER,
  FINISH,
  HOLD,
  open,
  openStory,
  REFUSED,
  type Story,
  TIMED_OUT,
} from '../audit/story.int-setup.js'
import type { Database } from '../connection/index.js'
import { checkPlacement } from '../outbox/index.js'
import { makePlan, type PlanFilter, type RunPlanOptions, readPlan, readPlanItems, runPlan, stopPlan } from './index.js'

const KEYLESS: DestinationContracts = { get: () => ({ idempotency: { kind: 'none' } }) }
const ANA = { actor: 'ana', reason: 'outage of 30 November' }
const FAST = { canary: 0, canaryWithinMs: 5_000, perSecond: 100, stopAfter: 1_000 }

let story: Story
let database: Database

beforeAll(async () => {
  story = await openStory()
  database = open(story.url, 'counterfoil_operator')
})
afterAll(async () => {
  await database.close()
  await story.end()
})

const filterOf = (destination: string): PlanFilter => ({
  destination,
  reasons: null,
  since: null,
  until: null,
  limit: 100,
})

async function addDead(destination: string, count: number): Promise<string[]> {
  const entries: string[] = []
  for (let index = 0; index < count; index += 1) {
    entries.push(await story.addEntry(await story.addDelivery(), destination))
    await story.attempt(destination, REFUSED, DEAD_LETTER)
  }
  return entries
}

async function planRedrive(filter: PlanFilter): Promise<string> {
  const made = await makePlan(database, { kind: 'redrive' }, filter, ANA, KEYLESS)
  if (made.kind !== 'planned') throw new Error('nothing was planned')
  return made.plan
}

const run = (plan: string, change: Partial<RunPlanOptions> = {}) =>
  runPlan(database, plan, ANA, { ...FAST, destinations: KEYLESS, signal: new AbortController().signal, ...change })

async function countActs(destination: string, action: string): Promise<number> {
  const { rows } = await story.pool.query<{ n: number }>(
    'SELECT count(*)::int AS n FROM counterfoil.act WHERE destination = $1 AND action = $2',
    [destination, action],
  )
  return rows[0]?.n ?? -1
}

/** A worker that gives whatever is due one answer, until it is told to stop. */
function work(destination: string, outcome: Parameters<Story['close']>[1], decision: Parameters<Story['close']>[2]) {
  let isOn = true
  const ended = (async () => {
    while (isOn) {
      const leased = await story.lease(destination).catch(() => null)
      if (leased !== null) await story.close(leased, outcome, decision)
    }
  })()
  return async () => {
    isOn = false
    await ended
  }
}

describe('makePlan', () => {
  it('freezes what is in it and what is left out with its reason, on record, and changes no entry (I9)', async () => {
    const [first = '', second = ''] = await addDead('plan-a', 2)
    await story.pool.query('UPDATE counterfoil.entry SET body = NULL WHERE id = $1', [second])
    const held = await story.addEntry(await story.addDelivery(), 'plan-a')
    await story.attempt('plan-a', TIMED_OUT, HOLD, false)
    const plan = await planRedrive(filterOf('plan-a'))
    await addDead('plan-a', 1)
    expect(await readPlan(database, plan)).toMatchObject({
      status: 'ready',
      madeBy: 'ana',
      cut: false,
      included: [{ state: 'dead_lettered', reason: 'rejected', count: 1 }],
      excluded: [
        { because: 'content_erased', count: 1 },
        { because: 'doubt_without_key', count: 1, why: expect.stringContaining('recognises no repeats') },
      ],
      progress: { remaining: 1, done: 0 },
    })
    expect((await readPlanItems(database, plan)).map(({ entry, included }) => [entry, included])).toEqual([
      [first, true],
      [second, false],
      [held, false],
    ])
    expect(await countActs('plan-a', 'bulk')).toBe(1)
    expect(await countActs('plan-a', 'redrive')).toBe(0)
  })

  it('looks only at what is asked for: reason, time, and so many', async () => {
    await addDead('plan-b', 3)
    const none = { ...filterOf('plan-b'), reasons: ['too_old'] }
    expect(await makePlan(database, { kind: 'redrive' }, none, ANA, KEYLESS)).toEqual({ kind: 'nothing' })
    const late = { ...filterOf('plan-b'), since: Date.now() + 60_000 }
    expect(await makePlan(database, { kind: 'redrive' }, late, ANA, KEYLESS)).toEqual({ kind: 'nothing' })
    const few = { ...filterOf('plan-b'), reasons: ['rejected'], since: Date.now() - 600_000, limit: 2 }
    const plan = await planRedrive(few)
    expect(await readPlan(database, plan)).toMatchObject({ cut: true, progress: { remaining: 2 } })
  })
})

describe('runPlan', () => {
  it('does each item once, with an act of its own and its result, and skips what has changed since (I9, B090)', async () => {
    const [changed = ''] = await addDead('plan-c', 3)
    const plan = await planRedrive(filterOf('plan-c'))
    await redriveEntry(database, changed, ANA, KEYLESS)
    await story.attempt('plan-c', REFUSED, DEAD_LETTER)
    expect(await run(plan)).toMatchObject({ kind: 'ended', as: 'done', progress: { done: 2, skipped: 1, underWay: 2 } })
    expect(await countActs('plan-c', 'redrive')).toBe(3)
    expect((await readPlanItems(database, plan)).map(({ result, resultWhy }) => [result, resultWhy])).toEqual([
      ['skipped', 'it has changed since the plan was made, and is dead lettered now'],
      ['done', null],
      ['done', null],
    ])
    expect(await checkPlacement(story.database)).toEqual([])
    expect(await run(plan)).toEqual({ kind: 'nothing_left' })
    expect(await countActs('plan-c', 'redrive')).toBe(3)
  })

  it('sends a canary first, and goes on only when all of it was delivered', async () => {
    await addDead('plan-d', 5)
    const plan = await planRedrive(filterOf('plan-d'))
    const stopWork = work('plan-d', ACCEPTED, FINISH)
    expect(await run(plan, { canary: 2 })).toMatchObject({ as: 'done', progress: { done: 5, failed: 0 } })
    await stopWork()
    const kinds = (await readPlan(database, plan))?.events.map(({ kind }) => kind)
    expect(kinds).toEqual(['run', 'canary_passed', 'end'])
  })

  it('stops when the canary fails again, or has not come back in time', async () => {
    await addDead('plan-e', 4)
    const plan = await planRedrive(filterOf('plan-e'))
    expect(await run(plan, { canary: 2, canaryWithinMs: 50 })).toMatchObject({
      as: 'canary_late',
      progress: { remaining: 2, done: 2 },
    })
    const stopWork = work('plan-e', REFUSED, DEAD_LETTER)
    expect(await run(plan, { canary: 1 })).toMatchObject({ as: 'canary_failed', progress: { remaining: 1 } })
    await stopWork()
    expect(await readPlan(database, plan)).toMatchObject({ status: 'canary_failed' })
  })

  it('stops when too many have failed again', async () => {
    await addDead('plan-f', 6)
    const plan = await planRedrive(filterOf('plan-f'))
    const stopWork = work('plan-f', REFUSED, DEAD_LETTER)
    const result = await run(plan, { stopAfter: 2, perSecond: 2 })
    await stopWork()
    expect(result).toMatchObject({ as: 'too_many_failures' })
    expect((await readPlan(database, plan))?.progress.remaining).toBeGreaterThan(0)
  })

  it('is never run by two at once, and stops before its next item when a person says so', async () => {
    await addDead('plan-g', 8)
    const plan = await planRedrive(filterOf('plan-g'))
    expect(await stopPlan(database, plan, ANA)).toEqual({ kind: 'not_running', status: 'ready' })
    const first = run(plan, { perSecond: 2 })
    await until(async () => (await readPlan(database, plan))?.status === 'running')
    expect(await run(plan)).toEqual({ kind: 'running' })
    await until(async () => ((await readPlan(database, plan))?.progress.done ?? 0) > 0)
    expect(await stopPlan(database, plan, { actor: 'bo', reason: 'not now' })).toMatchObject({ kind: 'stopping' })
    expect(await first).toMatchObject({ kind: 'ended', as: 'stopped' })
    expect((await readPlan(database, plan))?.progress.remaining).toBeGreaterThan(0)
    expect(await run(plan)).toMatchObject({ as: 'done', progress: { done: 8, remaining: 0 } })
    expect(await countActs('plan-g', 'redrive')).toBe(8)
  })

  it('goes on after its runner was killed, without doing anything twice', async () => {
    await addDead('plan-h', 6)
    const plan = await planRedrive(filterOf('plan-h'))
    const doomed = open(story.url, 'counterfoil_operator')
    const killed = runPlan(doomed, plan, ANA, {
      ...FAST,
      perSecond: 4,
      destinations: KEYLESS,
      signal: new AbortController().signal,
    }).catch((error: unknown) => error)
    await until(async () => ((await readPlan(database, plan))?.progress.done ?? 0) >= 2)
    await story.pool.query(
      `SELECT pg_terminate_backend(l.pid) FROM pg_locks l
       WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
         AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    )
    await until(async () => (await readPlan(database, plan))?.status !== 'running')
    // The lock is gone; whoever takes over is the only one that still counts.
    expect(await run(plan)).toMatchObject({ as: 'done', progress: { remaining: 0, done: 6 } })
    await killed
    await doomed.close()
    expect(await countActs('plan-h', 'redrive')).toBe(6)
    expect(await checkPlacement(story.database)).toEqual([])
  })

  it('is interrupted between two items, and says so', async () => {
    await addDead('plan-i', 3)
    const plan = await planRedrive(filterOf('plan-i'))
    const signal = AbortSignal.abort()
    expect(await run(plan, { signal })).toMatchObject({ as: 'interrupted', progress: { remaining: 3 } })
    expect(await readPlan(database, plan)).toMatchObject({ status: 'interrupted' })
  })

  it('settles and cancels many as well', async () => {
    for (const destination of ['plan-j', 'plan-j']) {
      await story.addEntry(await story.addDelivery(), destination)
      await story.attempt(destination, TIMED_OUT, HOLD, false)
    }
    const settle = { kind: 'settle', as: 'delivered', evidence: 'list l-9' } as const
    const settling = await makePlan(database, settle, filterOf('plan-j'), ANA, KEYLESS)
    const waiting = await story.addEntry(await story.addDelivery(), 'plan-j')
    const cancelling = await makePlan(database, { kind: 'cancel' }, filterOf('plan-j'), ANA, KEYLESS)
    if (settling.kind !== 'planned' || cancelling.kind !== 'planned') throw new Error('nothing was planned')
    expect(await run(settling.plan, { canary: 1 })).toMatchObject({ as: 'done', progress: { done: 2, succeeded: 2 } })
    expect(await run(cancelling.plan)).toMatchObject({ as: 'done', progress: { done: 1, succeeded: 1 } })
    expect((await readPlanItems(database, cancelling.plan))[0]).toMatchObject({ entry: waiting, stateNow: 'cancelled' })
    const { rows } = await story.pool.query(
      `SELECT detail->>'evidence' AS evidence FROM counterfoil.act WHERE action = 'settle' AND destination = 'plan-j'`,
    )
    expect(rows).toEqual([{ evidence: 'list l-9' }, { evidence: 'list l-9' }])
  })

  it('leaves evidence that nobody may change, and that a viewer may only read', async () => {
    const viewer = open(story.url, 'counterfoil_viewer')
    const plan = await planRedrive(filterOf('plan-e'))
    expect(await readPlan(viewer, plan)).not.toBeNull()
    const denied = { code: '42501' }
    await expect(makePlan(viewer, { kind: 'redrive' }, filterOf('plan-e'), ANA, KEYLESS)).rejects.toMatchObject(denied)
    await viewer.close()
    for (const table of ['plan', 'plan_item', 'plan_event', 'plan_result']) {
      await expect(story.pool.query(`DELETE FROM counterfoil.${table}`)).rejects.toMatchObject(denied)
    }
  })
})
