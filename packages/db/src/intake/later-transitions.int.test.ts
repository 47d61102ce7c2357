import type { ConditionalUpdate, CustomTransition, PlannedTransition, Transition } from '@counterfoil/core'
import { until } from '@counterfoil/testkit'
import type { Knex } from 'knex'
import type { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { applyDeferred, releaseDelivery, sweepTransition } from './index.js'
import { arrive, expireHold, type Intake, notify, openIntake, push, results } from './intake.int-setup.js'

describe('transitions that no push carries', () => {
  let intake: Intake
  beforeAll(async () => {
    intake = await openIntake()
  })
  afterAll(() => intake.close())

  const planFor = (subject: string, by: Transition = expireHold): PlannedTransition => ({
    transition: by,
    subject,
    guardMs: null,
    notDue: 'defer',
    payload: null,
  })
  const defer = async (id: string, by?: Transition) => {
    await intake.hold(id, 60_000)
    const early = push({ deliveryId: id, expires: id, notDue: 'defer', ...(by === undefined ? {} : { by }) })
    expect(results(await intake.claim(early))[0]?.outcome).toBe('not_due')
    await intake.database.pool.query("UPDATE public.hold SET due_at = now() - interval '1 second' WHERE id = $1", [id])
    await makeDue()
  }
  const makeDue = () => intake.database.pool.query("UPDATE counterfoil.deferred SET due_at = now() - interval '1 ms'")
  const waits = (id: string) =>
    intake.count(
      'counterfoil.deferred f JOIN counterfoil.delivery d ON d.id = f.delivery WHERE d.delivery_id = $1 AND f.due_at > now()',
      id,
    )

  it('asks again later when the deadline of a deferred row has moved', async () => {
    await defer('moved')
    await intake.database.pool.query("UPDATE public.hold SET due_at = now() + interval '1 hour' WHERE id = 'moved'")
    expect(await applyDeferred(intake.database, { limit: 10, plan: () => planFor('moved') })).toMatchObject({
      applied: 0,
      postponed: 1,
    })
    expect(await waits('moved')).toBe(1)
    await intake.database.pool.query('DELETE FROM counterfoil.deferred')
  })

  it('keeps one that cannot be decided from holding the others back', async () => {
    const odd: ConditionalUpdate = { ...expireHold, actions: (subject) => [notify(subject === 'odd-b' ? '' : subject)] }
    for (const id of ['odd-a', 'odd-b', 'odd-c']) await defer(id)
    const plan = ({ deliveryId }: { deliveryId: string }) => planFor(deliveryId, odd)
    expect(await applyDeferred(intake.database, { limit: 10, plan })).toMatchObject({ applied: 2, failed: 1 })
    expect(await waits('odd-b')).toBe(1)
    expect(await intake.stateOf('odd-b')).toBe('held')
    await makeDue()
    expect(await applyDeferred(intake.database, { limit: 10, plan: () => null })).toMatchObject({ failed: 1 })
    expect(await applyDeferred(intake.database, { limit: 10, plan: () => planFor('odd-b') })).toMatchObject({
      applied: 0,
    })
    await makeDue()
    expect(await applyDeferred(intake.database, { limit: 10, plan: () => planFor('odd-b') })).toMatchObject({
      applied: 1,
    })
  })

  it('finds the row that the database refuses among deferred and swept ones', async () => {
    await intake.database.pool.query(
      "ALTER TABLE public.hold ADD CONSTRAINT never CHECK (NOT (id LIKE '%-refused' AND state = 'expired'))",
    )
    for (const id of ['d-1', 'd-refused', 'd-2']) await defer(id)
    const plan = ({ deliveryId }: { deliveryId: string }) => planFor(deliveryId)
    expect(await applyDeferred(intake.database, { limit: 10, plan })).toMatchObject({ applied: 2, failed: 1 })
    for (const id of ['s-1', 's-refused', 's-2']) await intake.hold(id, -1_000)
    const swept = await sweepTransition(intake.database, expireHold, { instance: 't' })
    expect(swept).toMatchObject({ applied: 2, failed: 2, destinations: ['carrier'] })
    await intake.database.pool.query("DELETE FROM public.hold WHERE id LIKE '%-refused'")
    await intake.database.pool.query('DELETE FROM counterfoil.deferred')
  })

  it('skips a row that a stranger holds, and takes it the next time', async () => {
    await defer('busy')
    await intake.hold('busy-sweep', -1_000)
    const stranger = await intake.stranger()
    await stranger.query('BEGIN')
    await stranger.query("SELECT FROM public.hold WHERE id IN ('busy', 'busy-sweep') FOR UPDATE")
    const plan = () => planFor('busy')
    expect(await applyDeferred(intake.database, { limit: 10, plan })).toMatchObject({ applied: 0, skipped: 1 })
    const swept = await sweepTransition(intake.database, expireHold, { instance: 't' })
    expect(swept).toMatchObject({ applied: 0, skipped: 2 })
    await stranger.query('COMMIT')
    await until(async () => (await applyDeferred(intake.database, { limit: 10, plan })).applied === 1)
    await sweepTransition(intake.database, expireHold, { instance: 't' })
    expect(await intake.stateOf('busy-sweep')).toBe('expired')
  })

  it('lets two workers decide a deferred delivery once', async () => {
    await defer('two-workers')
    const plan = () => planFor('two-workers')
    const both = await Promise.all([1, 2, 3].map(() => applyDeferred(intake.database, { limit: 10, plan })))
    expect(both.reduce((sum, one) => sum + one.applied, 0)).toBe(1)
    expect(await intake.count("counterfoil.entry WHERE idempotency_key = 'expire:two-workers'")).toBe(1)
  })

  it('sweeps in bounded batches and says whether there is more', async () => {
    const small: ConditionalUpdate = { ...expireHold, name: 'small', sweep: { everyMs: 1, graceMs: 500, batch: 2 } }
    for (const id of ['b-1', 'b-2', 'b-3']) await intake.hold(id, -1_000)
    await intake.hold('in-grace', -100)
    const first = await sweepTransition(intake.database, small, { instance: 't' })
    const second = await sweepTransition(intake.database, small, { instance: 't' })
    expect([first.applied, first.more, second.applied]).toEqual([2, true, 1])
    expect(await intake.stateOf('in-grace')).toBe('held')
  })

  it('sweeps a row again that was put back under the same deadline, and writes no second entry', async () => {
    await intake.hold('put-back', -1_000)
    await sweepTransition(intake.database, expireHold, { instance: 't' })
    await intake.database.pool.query("UPDATE public.hold SET state = 'held' WHERE id = 'put-back'")
    expect((await sweepTransition(intake.database, expireHold, { instance: 't' })).applied).toBeGreaterThanOrEqual(1)
    expect(await intake.count("counterfoil.entry WHERE idempotency_key = 'expire:put-back'")).toBe(1)
    expect(
      await intake.count("counterfoil.transition_outcome WHERE subject = 'put-back' AND decided_by = 'sweep'"),
    ).toBe(2)
  })

  describe('released by a person', () => {
    const quarantine = async (deliveryId: string) => {
      const delivery = { ...arrive({ deliveryId }), disposition: { kind: 'quarantined', reason: 'schema' } } as const
      results(await intake.claim({ deliveries: [delivery] }))
      return delivery.id
    }
    const release = async (client: Client, id: string, planned: PlannedTransition | null, key?: string) => {
      await client.query('BEGIN')
      const disposition = { kind: 'act', transition: planned, entries: [] } as const
      const entries = arrive({ deliveryId: 'x', actions: key === undefined ? [] : [notify(key)] }).disposition
      const done = await releaseDelivery(
        client,
        id,
        entries.kind === 'act' && key !== undefined ? entries : disposition,
      )
      await client.query('COMMIT')
      return done
    }

    it('gets its entries, once', async () => {
      const client = await intake.stranger()
      const id = await quarantine('q-plain')
      expect(await release(client, id, null, 'q-plain')).toEqual({
        kind: 'released',
        outcome: null,
        destinations: ['crm'],
      })
      expect(await release(client, id, null, 'q-plain')).toEqual({ kind: 'already_released' })
    })

    it('gets its transition, by the push’s own judge', async () => {
      const client = await intake.stranger()
      await intake.hold('q-hold', -1_000)
      const id = await quarantine('q-hold')
      const planned = planFor('q-hold')
      expect(await release(client, id, planned)).toMatchObject({ kind: 'released', outcome: 'applied' })
      expect(await intake.stateOf('q-hold')).toBe('expired')
      expect(
        await intake.count("counterfoil.transition_outcome WHERE delivery = $1 AND decided_by = 'release'", id),
      ).toBe(1)
    })

    it('waits when it is early, as there is no sender to refuse', async () => {
      const client = await intake.stranger()
      await intake.hold('q-early', 60_000)
      const id = await quarantine('q-early')
      const planned = { ...planFor('q-early'), notDue: 'refuse' } as const
      expect(await release(client, id, planned)).toMatchObject({ kind: 'released', outcome: 'not_due' })
      expect(await intake.count('counterfoil.deferred WHERE delivery = $1', id)).toBe(1)
    })

    it('undoes a custom transition that throws without ending the transaction around it', async () => {
      const client = await intake.stranger()
      const id = await quarantine('q-custom')
      const throws: CustomTransition = {
        kind: 'custom',
        name: 'throws',
        apply: async (trx) => {
          await (trx as Knex.Transaction).raw("INSERT INTO public.hold VALUES ('q-trace', 'held', now(), 'x')")
          throw new Error('broken')
        },
      }
      await client.query('BEGIN')
      const asked = { kind: 'act', transition: planFor('x', throws), entries: [] } as const
      await expect(releaseDelivery(client, id, asked)).rejects.toThrow('broken')
      await client.query("INSERT INTO public.hold VALUES ('q-after', 'paid', now(), 'x')")
      await client.query('COMMIT')
      expect(await intake.stateOf('q-trace')).toBeUndefined()
      expect(await intake.stateOf('q-after')).toBe('paid')
    })
  })
})
