import type { ConditionalUpdate, CustomTransition } from '@counterfoil/core'
import { until } from '@counterfoil/testkit'
import type { Knex } from 'knex'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { applyDeferred, sweepTransition } from './index.js'
import { arrive, expireHold, type Intake, notify, openIntake, openStore, push, results } from './intake.int-setup.js'

describe('transitions that race', () => {
  let intake: Intake
  beforeAll(async () => {
    intake = await openIntake({ customTimeoutMs: 1_500 })
    await intake.database.pool.query('CREATE TABLE public.stock (place text PRIMARY KEY, free integer NOT NULL)')
    await intake.database.pool.query("INSERT INTO public.stock VALUES ('here', 0)")
  })
  afterAll(() => intake.close())

  const waiting = () => intake.count("pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()")
  const outcomeOf = async (deliveryId: string, expires: string, by?: ConditionalUpdate | CustomTransition) =>
    results(await intake.claim(push({ deliveryId, expires, ...(by === undefined ? {} : { by }) })))[0]?.outcome

  it('leaves a hold paid when the payment holds the row first (I8) (case B034: late event over a newer state)', async () => {
    await intake.hold('pay-first', -1_000)
    const payment = await intake.stranger()
    await payment.query('BEGIN')
    await payment.query("UPDATE public.hold SET state = 'paid' WHERE id = 'pay-first' AND state = 'held'")
    const expiry = outcomeOf('pay-first', 'pay-first')
    await until(async () => (await waiting()) > 0)
    await payment.query('COMMIT')
    expect(await expiry).toBe('no_longer_held')
    expect(await intake.stateOf('pay-first')).toBe('paid')
    expect(await intake.count("counterfoil.entry WHERE idempotency_key = 'expire:pay-first'")).toBe(0)
  })

  it('expires the hold when the payment that held the row is rolled back', async () => {
    await intake.hold('pay-fails', -1_000)
    const payment = await intake.stranger()
    await payment.query('BEGIN')
    await payment.query("UPDATE public.hold SET state = 'paid' WHERE id = 'pay-fails' AND state = 'held'")
    const expiry = outcomeOf('pay-fails', 'pay-fails')
    await until(async () => (await waiting()) > 0)
    await payment.query('ROLLBACK')
    expect(await expiry).toBe('applied')
  })

  it('makes the payment find an expired hold when the expiry came first (I8) (case B034: late event over a newer state)', async () => {
    await intake.hold('expire-first', -1_000)
    expect(await outcomeOf('expire-first', 'expire-first')).toBe('applied')
    const payment = await intake.stranger()
    const paid = await payment.query(
      "UPDATE public.hold SET state = 'paid' WHERE id = 'expire-first' AND state = 'held'",
    )
    expect(paid.rowCount).toBe(0)
    expect(await intake.stateOf('expire-first')).toBe('expired')
  })

  it('reads the clock after the lock: a hold that became due during the wait is due (case B092: clock that decides)', async () => {
    await intake.hold('due-in-wait', 250)
    const stranger = await intake.stranger()
    await stranger.query('BEGIN')
    await stranger.query("SELECT FROM public.hold WHERE id = 'due-in-wait' FOR UPDATE")
    const expiry = outcomeOf('due-in-wait', 'due-in-wait')
    await until(async () => (await waiting()) > 0)
    await until(
      async () => (await intake.count("public.hold WHERE id = 'due-in-wait' AND due_at < clock_timestamp()")) === 1,
    )
    await stranger.query('COMMIT')
    expect(await expiry).toBe('applied')
  })

  it('passes a hold by that was extended during the wait', async () => {
    await intake.hold('extend-in-wait', -1_000)
    const { rows } = await intake.database.pool.query<{ ms: number }>(
      "SELECT floor(extract(epoch FROM due_at) * 1000)::float8 AS ms FROM public.hold WHERE id = 'extend-in-wait'",
    )
    const stranger = await intake.stranger()
    await stranger.query('BEGIN')
    await stranger.query("UPDATE public.hold SET due_at = due_at + interval '1 minute' WHERE id = 'extend-in-wait'")
    const guardMs = rows[0]?.ms ?? 0
    const expiry = intake.claim(push({ deliveryId: 'extend-in-wait', expires: 'extend-in-wait', guardMs }))
    await until(async () => (await waiting()) > 0)
    await stranger.query('COMMIT')
    expect(results(await expiry)).toMatchObject([{ outcome: 'superseded' }])
    expect(await intake.stateOf('extend-in-wait')).toBe('held')
  })

  it('takes the event of the very deadline, whose microseconds it cannot know (case B092: clock that decides)', async () => {
    await intake.database.pool.query(
      `INSERT INTO public.hold VALUES ('micros', 'held', date_trunc('second', clock_timestamp()) - interval '0.999500 s', 'here')`,
    )
    const { rows } = await intake.database.pool.query<{ due_at: Date }>(
      "SELECT due_at FROM public.hold WHERE id = 'micros'",
    )
    const guardMs = rows[0]?.due_at.getTime() ?? 0
    const answer = await intake.claim(push({ deliveryId: 'micros', expires: 'micros', guardMs }))
    expect(results(answer)).toMatchObject([{ outcome: 'applied' }])
  })

  it('makes one transition of two jobs for one hold at once (case B031: which id the action has)', async () => {
    await intake.hold('two-jobs', -1_000)
    const stores = [intake.store, openStore(intake.database)]
    const answers = await Promise.all(
      stores.map((store, index) =>
        store.claim(push({ deliveryId: `job-${index}`, expires: 'two-jobs' }), {
          deadlineAt: performance.now() + 10_000,
        }),
      ),
    )
    const outcomes = answers.flatMap((answer) => results(answer).map((result) => result.outcome))
    expect(outcomes.sort()).toEqual(['applied', 'no_longer_held'])
    expect(await intake.count("counterfoil.entry WHERE idempotency_key = 'expire:two-jobs'")).toBe(1)
  })

  it('lets a row that a stranger holds for 2 s delay no other push', async () => {
    await intake.hold('stuck', -1_000)
    for (let index = 0; index < 20; index += 1) await intake.hold(`free-${index}`, -1_000)
    const stranger = await intake.stranger()
    await stranger.query('BEGIN')
    await stranger.query("SELECT FROM public.hold WHERE id = 'stuck' FOR UPDATE")
    const stuck = Array.from({ length: 5 }, (_, index) =>
      intake.claim(push({ deliveryId: index < 3 ? 'stuck' : `stuck-${index}`, expires: 'stuck' })),
    )
    const startedAt = performance.now()
    await Promise.all([
      ...Array.from({ length: 20 }, (_, index) => outcomeOf(`free-${index}`, `free-${index}`)),
      ...Array.from({ length: 100 }, (_, index) => intake.claim(push({ deliveryId: `plain-${index}` }))),
    ])
    expect(performance.now() - startedAt).toBeLessThan(1_000)
    await stranger.query('COMMIT')
    const answers = (await Promise.all(stuck)).map((answer) => results(answer)[0])
    expect(answers.filter((answer) => answer?.kind === 'duplicate')).toHaveLength(2)
    expect(answers.filter((answer) => answer?.kind === 'first' && answer.outcome === 'applied')).toHaveLength(1)
  })

  it('answers unavailable, without a claim, when the row stays held until the deadline', async () => {
    await intake.hold('held-on', -1_000)
    const stranger = await intake.stranger()
    await stranger.query('BEGIN')
    await stranger.query("SELECT FROM public.hold WHERE id = 'held-on' FOR UPDATE")
    const answer = await intake.claim(push({ deliveryId: 'held-on', expires: 'held-on' }), 2_000)
    expect(answer).toEqual({ kind: 'unavailable', cause: 'sqlstate 55P03' })
    await stranger.query('ROLLBACK')
    expect(await intake.count("counterfoil.delivery WHERE delivery_id = 'held-on'")).toBe(0)
    expect(await outcomeOf('held-on', 'held-on')).toBe('applied')
  })

  it('lets the sweep and a push write one entry between them, in either order', async () => {
    await intake.hold('sweep-first', -1_000)
    await intake.hold('push-first', -1_000)
    expect(await outcomeOf('push-first', 'push-first')).toBe('applied')
    const sweeps = await Promise.all(
      [1, 2, 3].map(() => sweepTransition(intake.database, expireHold, { instance: 't' })),
    )
    expect(sweeps.reduce((sum, one) => sum + one.applied, 0)).toBeGreaterThanOrEqual(1)
    expect(await outcomeOf('sweep-first', 'sweep-first')).toBe('no_longer_held')
    for (const key of ['expire:sweep-first', 'expire:push-first']) {
      expect(await intake.count('counterfoil.entry WHERE idempotency_key = $1', key)).toBe(1)
    }
  })

  it('runs onApplied in the same transaction, whoever applies: push, deferral or sweep', async () => {
    const release: ConditionalUpdate = {
      ...expireHold,
      name: 'release_stock',
      actions: (subject) => [{ destination: 'carrier', idempotencyKey: `release:${subject}`, body: 'x' }],
      onApplied: async (trx, _subject, row) => {
        await (trx as Knex.Transaction)('public.stock').where({ place: row.place }).increment('free', 1)
      },
    }
    const free = async () =>
      (await intake.database.pool.query<{ free: number }>('SELECT free FROM public.stock')).rows[0]?.free
    await intake.hold('stock-push', -1_000)
    expect(await outcomeOf('stock-push', 'stock-push', release)).toBe('applied')
    expect(await outcomeOf('stock-push', 'stock-push', release)).toBe('applied')
    expect(await free()).toBe(1)
    await intake.hold('stock-defer', 100)
    const early = push({ deliveryId: 'stock-defer', expires: 'stock-defer', by: release, notDue: 'defer' })
    expect(results(await intake.claim(early))[0]?.outcome).toBe('not_due')
    const planned = early.deliveries[0]?.disposition
    const plan = () => (planned?.kind === 'act' ? planned.transition : null)
    await until(async () => (await applyDeferred(intake.database, { limit: 10, plan })).applied === 1)
    expect(await free()).toBe(2)
    await intake.hold('stock-sweep', -1_000)
    expect(await sweepTransition(intake.database, release, { instance: 't' })).toMatchObject({ failed: 0 })
    expect(await intake.stateOf('stock-sweep')).toBe('expired')
    expect(await free()).toBe(3)
  })

  it('never acks a transaction that the server rolled back because onApplied swallowed an error (I1) (case B026: claim without its work)', async () => {
    await intake.hold('swallow', -1_000)
    const swallow: ConditionalUpdate = {
      ...expireHold,
      name: 'swallow',
      onApplied: async (trx) => {
        await (trx as Knex.Transaction).raw('SELECT 1 / 0').catch(() => {})
      },
    }
    const answer = await intake.claim(push({ deliveryId: 'swallow', expires: 'swallow', by: swallow }))
    expect(answer.kind).toBe('unavailable')
    expect(await intake.count("counterfoil.delivery WHERE delivery_id = 'swallow'")).toBe(0)
    expect(await intake.stateOf('swallow')).toBe('held')
  })

  it('ends a custom transition that hangs, and none of its late statements runs', async () => {
    let wake = (): void => {}
    let late: Promise<unknown> = Promise.resolve()
    const hangs: CustomTransition = {
      kind: 'custom',
      name: 'hangs',
      apply: async (trx) => {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
        late = (trx as Knex.Transaction).raw("INSERT INTO public.hold VALUES ('late', 'held', now(), 'x')").then(
          () => 'ran',
          () => 'refused',
        )
        await late
        return { outcome: 'applied' }
      },
    }
    const answer = await intake.claim(push({ deliveryId: 'hangs', expires: 'x', by: hangs }))
    expect(answer.kind).toBe('unavailable')
    wake()
    await until(() => late)
    expect(await late).toBe('refused')
    expect(await intake.count("public.hold WHERE id = 'late'")).toBe(0)
  })

  it('refuses a transition that ends our transaction', async () => {
    const ends: CustomTransition = {
      kind: 'custom',
      name: 'ends',
      apply: async (trx) => {
        await (trx as Knex.Transaction).raw('COMMIT')
        return { outcome: 'applied' }
      },
    }
    expect((await intake.claim(push({ deliveryId: 'ends', expires: 'x', by: ends }))).kind).toBe('unavailable')
    expect(await intake.count("counterfoil.delivery WHERE delivery_id = 'ends'")).toBe(0)
  })

  it('claims a push of several deliveries with transitions all or nothing (case B026: claim without its work)', async () => {
    await intake.hold('pair-a', -1_000)
    await intake.hold('pair-b', 60_000)
    const pair = (notDue: 'refuse' | 'discard') => ({
      deliveries: [
        arrive({ deliveryId: 'pair-a', expires: 'pair-a', notDue }),
        arrive({ deliveryId: 'pair-b', expires: 'pair-b', notDue }),
        arrive({ deliveryId: 'pair-c', actions: [notify('pair-c')] }),
      ],
    })
    expect(await intake.claim(pair('refuse'))).toMatchObject({ kind: 'refused', outcome: 'not_due' })
    expect(await intake.stateOf('pair-a')).toBe('held')
    expect(await intake.count("counterfoil.delivery WHERE delivery_id LIKE 'pair-%'")).toBe(0)
    const taken = await intake.claim(pair('discard'))
    expect(results(taken).map((result) => result.outcome)).toEqual(['applied', 'not_due', null])
    if (taken.kind === 'committed') expect([...(taken.destinations ?? [])].sort()).toEqual(['carrier', 'crm'])
  })

  it('says not_found of a subject that cannot be an id of the table', async () => {
    await intake.database.pool.query(
      'CREATE TABLE public.load (id uuid PRIMARY KEY, state text NOT NULL, due_at timestamptz, place text)',
    )
    const load: ConditionalUpdate = { ...expireHold, name: 'load', table: 'public.load' }
    expect(await outcomeOf('load-odd', 'not a uuid', load)).toBe('not_found')
    const id = '0195e0c4-9d8a-7b3c-8a1e-6f0a2b4c8d1e'
    await intake.database.pool.query("INSERT INTO public.load VALUES ($1, 'held', now(), 'here')", [id])
    expect(await outcomeOf('load-upper', id.toUpperCase(), load)).toBe('applied')
    expect(await intake.count('counterfoil.entry WHERE idempotency_key = $1', `expire:${id}`)).toBe(1)
  })

  it('keeps pushes alive beside a transition whose table is missing', async () => {
    const missing: ConditionalUpdate = { ...expireHold, name: 'missing', table: 'public.no_such_table' }
    const [odd, plain] = await Promise.all([
      intake.claim(push({ deliveryId: 'missing', expires: 'x', by: missing })),
      intake.claim(push({ deliveryId: 'beside' })),
    ])
    expect(odd.kind).toBe('unavailable')
    expect(plain.kind).toBe('committed')
  })
})
